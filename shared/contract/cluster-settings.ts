/** Settings of a cluster that a person may choose in clusters.yaml, and their defaults: kube-controller-manager's. */
export interface ClusterSettings {
  /** Delay from a pod's change to its wake-up, whole seconds (upstream's endpointUpdatesBatchPeriod). */
  readonly batchPeriodSeconds: number;
  readonly maxEndpointsPerSlice: number;
  readonly endpoints: boolean;
  readonly slices: boolean;
}

export const defaultSettings: ClusterSettings = { batchPeriodSeconds: 0, maxEndpointsPerSlice: 100, endpoints: true, slices: true };
