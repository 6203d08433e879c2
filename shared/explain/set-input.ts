/** What the snapshots of several clusters hold of one exported name. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { ExportedService, Winner } from '#shared/clusterset/precedence.ts';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import type { Namespace, Node, Pod, Service } from '#shared/kube/types.ts';
import type { StoredImportReport } from '#shared/store/import-report.ts';
import type { WorkItem } from '#shared/workqueue/rules/item.ts';
import type { FactGroup, SetExplanation } from './explanation.ts';

export interface SetInput {
  readonly meta: ClusterRecord;
  readonly namespace: string;
  readonly name: string;
  /** As the cluster itself has them. */
  readonly serviceExport: ServiceExport | undefined;
  readonly service: Service | undefined;
  readonly derived: Service | undefined;
  /** Of its nodes; none are read where no export asks for a locality. */
  readonly zones: readonly string[];
  /** Its run of the export. */
  readonly exportWork: WorkItem;
  /** What each cluster exports under the name, as its own run has written it down. */
  readonly faces: readonly ExportedService[];
  readonly winner: Winner | undefined;
  /** One for each of `faces`. */
  readonly sources: readonly SourceInput[];
  /** The clusters that import, or did; and the explained one, if it does. */
  readonly importers: readonly ImporterInput[];
  /** ms since the epoch. */
  readonly now: number;
}

export interface SourceInput {
  readonly record: ClusterRecord;
  /** Undefined: it has no Service of the name that selects pods. */
  readonly exported: { readonly service: Service; readonly pods: readonly Pod[]; readonly nodes: ReadonlyMap<string, Node> } | undefined;
}

export interface ImporterInput {
  readonly record: ClusterRecord;
  readonly namespace: Namespace | undefined;
  readonly serviceImport: ServiceImport | undefined;
  readonly report: StoredImportReport | undefined;
  /** Its run of the import. */
  readonly work: WorkItem;
}

export interface ExplainedSet {
  readonly set: SetExplanation;
  readonly groups: readonly FactGroup[];
  /** One sentence each; undefined: the cluster has no export of the name, or no import. */
  readonly exportSummary: string | undefined;
  readonly importSummary: string | undefined;
  /** `imports: shadow`: what would be written. */
  readonly preview: readonly string[];
}
