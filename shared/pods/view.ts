/** The Pods of a namespace as one run sees them. Every run reads them through this door, also an import's run for a source. */
import type { Output } from '#shared/kube/listed-endpoints.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';

export interface Pods {
  /** The view is as new as the call: the strongly consistent reads behind it begin after the call. */
  viewOf(store: ClusterStore, namespace: string, use: UseOfPods): Promise<PodsView>;
}

export interface UseOfPods {
  readonly nowMs: number;
  /** `ClusterRecord.cacheEpoch`: Pods that were cached under another one are not used. */
  readonly scope?: string;
}

export interface PodsView {
  /** All Pods of the namespace. */
  readonly all: readonly Pod[];
  /**
   * May outputs change so, by the Pods of this view? The change must undo nothing that an earlier run wrote by a newer record of a Pod. False: a Pod was
   * another one, `all` has it now, and the caller plans again.
   */
  confirms(change: OutputChange): Promise<boolean>;
}

/** Outputs of a service that a plan replaces, and their replacements. */
export interface OutputChange {
  readonly before: readonly Output[];
  readonly after: readonly Output[];
}
