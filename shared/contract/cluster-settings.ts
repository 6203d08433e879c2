/** Settings of a cluster in clusters.yaml, with kube-controller-manager's defaults. */
export interface ClusterSettings {
  /** Delay from a pod's change to its wake-up, whole seconds (upstream's endpointUpdatesBatchPeriod). */
  readonly batchPeriodSeconds: number;
  readonly maxEndpointsPerSlice: number;
  /** The hub runs these. */
  readonly controllers: readonly ('endpoints' | 'slices')[];
  /** Days for which the history is kept. 0 keeps none. */
  readonly historyDays: number;
  /**
   * The hub deletes the leftovers of the built-in controllers of a Service that opts in: its selector was
   * removed.
   */
  readonly optInCleanup: boolean;
  /** `follow`: pods of a zone that EKS shifts traffic away from leave the endpoints that the hub writes. */
  readonly zonalShift: ZonalShift;
}

/** What a cluster of EKS does with its zonal shifts. */
export const zonalShiftChoices = ['follow', 'ignore'] as const;
export type ZonalShift = (typeof zonalShiftChoices)[number];

export const defaultSettings: ClusterSettings = {
  batchPeriodSeconds: 0,
  maxEndpointsPerSlice: 100,
  controllers: ['endpoints', 'slices'],
  historyDays: 7,
  optInCleanup: true,
  zonalShift: 'follow',
};
