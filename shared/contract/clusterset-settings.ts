/** What a cluster has to do with the others of its set, as clusters.yaml says it and its record holds it (docs/clusterset.md). */
export interface ClustersetMembership {
  /** The name of the set. */
  readonly set: string;
  /** `labelled`: a namespace takes imports that has the set's label. `all`: each does that is not excluded. */
  readonly sameness: 'labelled' | 'all';
  /** `shadow`: what would be imported is computed and shown, and nothing is written to the cluster. */
  readonly imports: Imports;
  /** What it has imported is being deleted, before its imports are off (`cluster imports CLUSTER off --withdraw`); `imports` is active meanwhile. */
  readonly withdraws?: boolean;
  readonly exports: MemberExports;
  /** How long the changes of an export are gathered before its importers run. */
  readonly importBatchSeconds: number;
  /** What becomes of the cluster's endpoints in the others while nothing is heard of it (shared/clusterset/source-state.ts). */
  readonly silence: 'keep' | 'evictAfter';
  readonly evictAfterSeconds: number;
  /** The cluster's failure domain: clusters of one region may be lost together. */
  readonly region?: string;
  /** Whose word decides where exports differ (shared/clusterset/precedence.ts). */
  readonly precedence: 'sticky' | 'oldest';
}

export const importsChoices = ['off', 'shadow', 'active'] as const;
export type Imports = (typeof importsChoices)[number];

export interface MemberExports {
  readonly namespaces: readonly string[] | 'all';
  /** Ranges of the cluster's own pod addresses; left out: any address. */
  readonly podCidrs?: readonly string[];
  /** Its pods share ranges with those of other clusters that say so too. */
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
