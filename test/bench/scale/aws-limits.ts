/**
 * Limits of AWS in a region and account without a raised quota, and of this project. By default in units a
 * second.
 */
export const limits = {
  /** docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
  partitionWrites: 1_000,
  partitionReads: 3_000,
  /** Unused capacity of up to 300 s that a partition may use at once (burst-adaptive-capacity.html). */
  burstSeconds: 300,
  /** Default quota of a table, for on-demand tables too (ServiceQuotas.html). */
  tableWrites: 40_000,
  tableReads: 40_000,
  /** Throughput of an on-demand table that has never been busier (on-demand-capacity-mode.html). */
  newTableWrites: 4_000,
  newTableReads: 12_000,
  /**
   * Concurrent executions of an account (lambda/latest/dg/gettingstarted-limits.html); the hub's clusters may
   * have four fifths.
   */
  executions: 1_000,
  executionsShare: 0.8,
  /** Invocations a second for each of them. */
  invocationsEach: 10,
  /** Concurrency of a cluster's functions by default (clusters.yaml), and its least. */
  concurrency: { ingest: 10, sync: 20 },
  leastConcurrency: { ingest: 2, sync: 2 },
  /**
   * Pollers of a mapping at rest; it adds concurrency for 300 more a minute
   * (lambda/latest/dg/services-sqs-scaling.html).
   */
  pollers: 5,
  concurrencyAddedAMinute: 300,
  indexKeys: 4,
} as const;
