import type { MetricName } from '#shared/contract/metrics.ts';
import type { UpstreamMetricName } from '#shared/contract/upstream-metrics.ts';

/**
 * Plain metrics and statistics: what CloudWatch draws, and what the local console can draw from the same
 * data.
 */
export type Statistic = 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'p50' | 'p90' | 'p99';

/** Queues by role. The last two are the hub's, the others each cluster has its own of. */
export type QueueRole = 'events' | 'syncs' | 'dead-events' | 'dead-syncs' | 'parked' | 'quarantine';
/** The function with versions. */
export type LiveFunction = 'worker';
export type FunctionRole = 'worker' | 'sweep';

export type Source =
  | { readonly metric: MetricName }
  | { readonly upstream: UpstreamMetricName; readonly labels: { readonly [label: string]: string } }
  | { readonly aws: 'AWS/SQS'; readonly name: string; readonly queue: QueueRole }
  | { readonly aws: 'AWS/Lambda'; readonly name: string; readonly function: FunctionRole | 'account' }
  /** The new version of a function, while a deploy shifts traffic to it. */
  | { readonly aws: 'AWS/Lambda'; readonly name: string; readonly newVersionOf: LiveFunction }
  /** Of the function's log group. */
  | { readonly aws: 'AWS/Logs'; readonly name: string; readonly function: FunctionRole }
  /** `index`: of the index of overdue work, and not of the table itself. */
  | { readonly aws: 'AWS/DynamoDB'; readonly name: string; readonly index?: true };

export type Series = Source & { readonly statistic: Statistic };
