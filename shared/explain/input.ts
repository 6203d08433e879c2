import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Labels } from '#shared/kube/labels.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';
import type { HintsRecord } from '#shared/slices/plan.ts';
import type { OtherOutput } from '#shared/store/other-outputs.ts';
import type { Triggers } from '#shared/store/triggers.ts';
import type { WorkItem } from '#shared/workqueue/rules/item.ts';
import type { SavedOutputs } from './saved.ts';
import type { ExplainedSet } from './set-input.ts';

/** A pod of the namespace as the snapshot holds it. */
export interface KnownPod {
  readonly name: string;
  /** Undefined: it is gone. */
  readonly pod: Pod | undefined;
  /** Label sets it has had whose services are not told yet. */
  readonly past: readonly Labels[];
}

/** What the snapshot holds of a service, its pods and its cluster: all that an explanation is made of. */
export interface ExplainInput {
  readonly meta: ClusterRecord;
  readonly namespace: string;
  readonly name: string;
  /** Undefined: there is no such service (any more). */
  readonly service: Service | undefined;
  readonly pods: readonly KnownPod[];
  readonly nodes: ReadonlyMap<string, Node>;
  readonly work: WorkItem;
  readonly triggers: Triggers;
  readonly hints: HintsRecord | undefined;
  /** In shadow mode what the cluster's own controllers wrote, otherwise what sync has proved to be on the server. */
  readonly saved: SavedOutputs;
  /** Of a Service that opts in: what others than the hub and the built-in controllers have made. */
  readonly others?: readonly Pick<OtherOutput, 'kind' | 'name' | 'managedBy'>[];
  /** Another manager keeps writing its objects: the hub does not until then, ms since the epoch. */
  readonly contested?: { readonly untilMs: number; readonly manager: string } | undefined;
  /** Shadow mode: what differs, and whether it was still there ten seconds later. */
  readonly difference: { readonly text: string; readonly sinceMs: number; readonly confirmed: boolean } | undefined;
  /** A pod that is explained even if it has nothing to do with the service. */
  readonly asked?: string;
  /** What the clusters of its set have to do with the name; undefined: none of them has anything. */
  readonly set?: ExplainedSet | undefined;
  /** ms since the epoch. */
  readonly now: number;
}
