/**
 * Additional reads of the relay and writes of the writer in a cluster that takes part in a set
 * (docs/use/clusterset.md).
 */
export interface ClustersetTasks {
  /** Left out: the cluster exports alone. */
  readonly imports?: ImportTasks;
  /** Kubernetes' own roles edit and admin may write ServiceExports. */
  readonly editorsMayExport?: boolean;
}

export interface ImportTasks {
  /** The importing cluster itself. */
  readonly cluster: string;
  /** The name of the set. */
  readonly set: string;
  /**
   * `labelled`: a namespace takes imports that has the set's label. `all`: each does that is not excluded.
   */
  readonly sameness: 'labelled' | 'all';
  /**
   * Each exporting cluster with the ranges of its pods: of no other cluster, and to no other address, is a
   * slice written.
   */
  readonly sources: { readonly [cluster: string]: readonly string[] };
}
