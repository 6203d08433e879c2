import type { Served } from '#infra/cli/ask/answer/world.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Ending } from '#shared/controllers/history/history-record.ts';
import type { HintsRecord } from '#shared/controllers/slices/plan.ts';
import type { Labels } from '#shared/kube/labels.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';
import type { Triggers } from '#shared/store/triggers.ts';
import type { WorkItem } from '#shared/workqueue/rules/item.ts';
import type { Fact, FactGroup, SetExplanation } from './explanation.ts';

/** A pod of the namespace in the snapshot. */
export interface KnownPod {
  readonly name: string;
  /** Undefined for a deleted pod. */
  readonly pod: Pod | undefined;
  /** Former label sets whose services are not enqueued yet. */
  readonly formerLabels: readonly Labels[];
}

/** The input of an explanation, from the snapshot: a service, its pods and its cluster. */
export interface ExplainInput {
  readonly cluster: ClusterRecord;
  readonly namespace: string;
  readonly name: string;
  /** Undefined if the service does not exist (any more). */
  readonly service: Service | undefined;
  readonly pods: readonly KnownPod[];
  readonly nodes: ReadonlyMap<string, Node>;
  readonly work: WorkItem;
  readonly triggers: Triggers;
  readonly hints: HintsRecord | undefined;
  /** The result of the newest run, if it is recorded and the run has failed. */
  readonly lastEnding?: Ending | undefined;
  /**
   * Outputs that sync has confirmed on the API server. In shadow mode: outputs of the cluster's own
   * controllers.
   */
  readonly saved: Served;
  /**
   * Another field manager keeps writing the objects. The hub does not write them until `untilMs`, ms since
   * the epoch.
   */
  readonly conflict?: { readonly untilMs: number; readonly manager: string } | undefined;
  /** The difference in shadow mode. It is confirmed if it still exists ten seconds later. */
  readonly difference:
    | { readonly text: string; readonly sinceMs: number; readonly confirmed: boolean }
    | undefined;
  /** A pod that the user named. It is explained even if the service does not select it. */
  readonly asked?: string;
  /** The name's exports and imports in the set of clusters. Undefined without any. */
  readonly set?: ExplainedSet | undefined;
  /** Further facts of the cluster. */
  readonly moreFacts?: readonly Fact[];
  /** ms since the epoch. */
  readonly now: number;
}

export interface ExplainedSet {
  readonly set: SetExplanation;
  readonly groups: readonly FactGroup[];
  /** A sentence each. Undefined if the cluster does not export or import the name. */
  readonly exportSummary: string | undefined;
  readonly importSummary: string | undefined;
  /** The writes that would be made, with `imports: shadow`. */
  readonly preview: readonly string[];
}
