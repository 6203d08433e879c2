/** The objects that the cluster's switches let the hub write. */
export interface WriterTasks {
  /** Objects of Kubernetes' two controllers. */
  readonly builtIn: boolean;
  /** Slices of Services that opt in. */
  readonly optIn: boolean;
  /** Deletion of what the built-in controllers leave behind of these. */
  readonly cleanup: boolean;
}

export const builtInAlone: WriterTasks = { builtIn: true, optIn: false, cleanup: false };
