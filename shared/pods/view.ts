/** The Pods of a namespace as one run sees them. Every run reads Pods by this interface, also an import's run for a source. */
import type { Output } from '#shared/kube/listed-endpoints.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';

/** The records of a namespace's Pods have more bytes than a run reads (`UseOfPods.maxBytes`). */
export class PodsTooLarge extends Error {
  override readonly name = 'PodsTooLarge';
}

export interface Pods {
  /** Returns a view that is at least as new as the call, because its strongly consistent reads begin after the call. Rejects with PodsTooLarge. */
  viewOf(store: ClusterStore, namespace: string, use: UseOfPods): Promise<PodsView>;
}

export interface UseOfPods {
  readonly nowMs: number;
  /** `ClusterRecord.cacheEpoch`. Pods cached with another scope are not used. */
  readonly scope?: string;
  /** Bytes of the records that are read at most; `PodLogLimits.maxBytes` by default. */
  readonly maxBytes?: number;
}

export interface PodsView {
  /** All Pods of the namespace. */
  readonly all: readonly Pod[];
  /**
   * Resolves to true if the Pods of this view justify the change, so it does not undo an earlier run's write by a newer record of a Pod. Resolves to false if
   * a Pod has changed: `all` then has the new Pod, and the caller plans again.
   */
  confirms(change: OutputChange): Promise<boolean>;
}

/** Outputs of a service that a plan replaces, and their replacements. */
export interface OutputChange {
  readonly before: readonly Output[];
  readonly after: readonly Output[];
}
