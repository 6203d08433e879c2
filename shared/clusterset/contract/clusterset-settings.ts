/**
 * The membership of a cluster in a set, as in clusters.yaml and in the cluster's record (docs/clusterset.md).
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
  /** Time for which changes of an export are batched before its importers run. */
  readonly importBatchSeconds: number;
  /**
   * Treatment of the cluster's endpoints in other clusters while it is silent
   * (shared/clusterset/imports/source-state.ts).
   */
  readonly silence: 'keep' | 'evictAfter';
  readonly evictAfterSeconds: number;
  /** The cluster's failure domain: clusters of one region may be lost together. */
  readonly region?: string;
  /** Rule for the export that decides if exports differ (shared/clusterset/exports/precedence.ts). */
  readonly precedence: 'sticky' | 'oldest';
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
  importBatchSeconds: 2,
  silence: 'keep',
  evictAfterSeconds: 300,
  precedence: 'sticky',
};
