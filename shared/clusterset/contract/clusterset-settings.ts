/**
 * The membership of a cluster in a set, as in clusters.yaml and in the cluster's record (docs/use/clusterset.md).
 */
export interface ClustersetMembership {
  /** The name of the set. */
  readonly set: string;
  /**
   * `labelled`: a namespace with the set's label takes imports. `all`: every namespace that is not excluded
   * takes imports.
   */
  readonly sameness: 'labelled' | 'all';
  /** `shadow`: imports are computed and shown, but not written to the cluster. */
  readonly imports: Imports;
  /**
   * The cluster's imports are being deleted before the switch is off (`cluster imports CLUSTER off
   * --withdraw`). `imports` is active meanwhile.
   */
  readonly withdraws?: boolean;
  readonly exports: MemberExports;
  /**
   * Silence after which the cluster's endpoints are evicted from the importers, if its API does not answer
   * either (shared/clusterset/imports/source-state.ts). If absent, they stay.
   */
  readonly evictAfterSeconds?: number;
  /** The cluster's failure domain: clusters of one region may be lost together. */
  readonly region?: string;
}

export const importsChoices = ['off', 'shadow', 'active'] as const;
export type Imports = (typeof importsChoices)[number];

export interface MemberExports {
  readonly namespaces: readonly string[] | 'all';
  /** Ranges of the cluster's own pod addresses. If absent, any address is allowed. */
  readonly podCidrs?: readonly string[];
  /** The ranges may overlap with ranges of other clusters that also have this setting. */
  readonly allowOverlap?: boolean;
}

export const noMembership: ClustersetMembership = {
  set: 'default',
  sameness: 'labelled',
  imports: 'off',
  exports: { namespaces: [] },
};
