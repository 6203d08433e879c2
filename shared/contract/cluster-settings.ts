/** Settings of a cluster that a person may choose in clusters.yaml, and their defaults: kube-controller-manager's. */
export interface ClusterSettings {
  /** Delay from a pod's change to its wake-up, whole seconds (upstream's endpointUpdatesBatchPeriod). */
  readonly batchPeriodSeconds: number;
  readonly maxEndpointsPerSlice: number;
  readonly endpoints: boolean;
  readonly slices: boolean;
  /** Days for which what runs changed, and why, is kept; 0 for not at all. */
  readonly historyDays: number;
  /** Of Services that opt in; defaults apply to what is left out. */
  readonly optIn?: Partial<OptInSettings>;
}

export interface OptInSettings {
  /** Does the hub delete what the built-in controllers leave behind of a Service whose selector was removed? */
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
