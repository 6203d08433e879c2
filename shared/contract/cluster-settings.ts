/** Settings of a cluster in clusters.yaml, with kube-controller-manager's defaults. */
export interface ClusterSettings {
  /** Delay from a pod's change to its wake-up, whole seconds (upstream's endpointUpdatesBatchPeriod). */
  readonly batchPeriodSeconds: number;
  readonly maxEndpointsPerSlice: number;
  readonly endpoints: boolean;
  readonly slices: boolean;
  /** Days for which the history is kept. 0 keeps none. */
  readonly historyDays: number;
  /** Settings for Services that opt in. Absent settings have their defaults. */
  readonly optIn?: Partial<OptInSettings>;
}

export interface OptInSettings {
  /**
   * If true, the hub deletes leftovers of the built-in controllers of a Service whose selector was removed.
   */
  readonly cleanup: boolean;
}

export const defaultOptInSettings: OptInSettings = { cleanup: true };

export const defaultSettings: ClusterSettings = {
  batchPeriodSeconds: 0,
  maxEndpointsPerSlice: 100,
  endpoints: true,
  slices: true,
  historyDays: 7,
};
