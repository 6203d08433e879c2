/** The input of an explanation of an exported name, from the snapshots of several clusters. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { ExportedService, Winner } from '#shared/clusterset/exports/precedence.ts';
import type { StoredImportReport } from '#shared/clusterset/store/import-report.ts';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import type { Namespace, Node, Pod, Service } from '#shared/kube/types.ts';
import type { WorkItem } from '#shared/workqueue/rules/item.ts';

export interface SetInput {
  readonly cluster: ClusterRecord;
  readonly namespace: string;
  readonly name: string;
  /** Objects of the explained cluster itself. */
  readonly serviceExport: ServiceExport | undefined;
  readonly service: Service | undefined;
  readonly derived: Service | undefined;
  /** Zones of the cluster's nodes. They are read only if an export prefers a locality. */
  readonly zones: readonly string[];
  /** Work item of the cluster's export. */
  readonly exportWork: WorkItem;
  /** The export of each cluster under the name, as its own run published it. */
  readonly publishedExports: readonly ExportedService[];
  readonly winner: Winner | undefined;
  /** A source for each element of `publishedExports`. */
  readonly sources: readonly SourceInput[];
  /** The clusters that import or imported the name, and the explained cluster if it imports. */
  readonly importers: readonly ImporterInput[];
  /** ms since the epoch. */
  readonly now: number;
}

export interface SourceInput {
  readonly record: ClusterRecord;
  /** Undefined if the cluster lacks a Service of the name that selects pods. */
  readonly exported:
    | { readonly service: Service; readonly pods: readonly Pod[]; readonly nodes: ReadonlyMap<string, Node> }
    | undefined;
}

export interface ImporterInput {
  readonly record: ClusterRecord;
  readonly namespace: Namespace | undefined;
  readonly serviceImport: ServiceImport | undefined;
  readonly report: StoredImportReport | undefined;
  /** Work item of the cluster's import. */
  readonly work: WorkItem;
}
