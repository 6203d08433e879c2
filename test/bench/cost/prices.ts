/** Prices of us-east-1 on demand, November 2026, arm64, without free tier, discounts and data transfer. */
import type { BatchKind } from '../batch-kind.ts';

/** US dollars. */
export const price = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  writeUnitHour: 0.00065,
  readUnitHour: 0.00013,
  queueRequest: 0.4e-6,
  lambdaGbSecond: 13.3334e-6,
  lambdaRequest: 0.2e-6,
  logGb: 0.5,
  tableGbMonth: 0.25,
  tableBackupGbMonth: 0.2,
  alarm: 0.1,
  compositeAlarm: 0.5,
  dashboard: 3,
  secret: 0.4,
} as const;

/** Custom metrics of an account and month, by number: the first 10,000, then the next 240,000. */
export const metricsPrice = (count: number): number =>
  Math.min(count, 10_000) * 0.3 + Math.max(0, count - 10_000) * 0.1;

/**
 * Milliseconds of a warm batch on AWS, of one message and for each message more: the means that `npm run
 * bench -- latency` prints, of the calls that are made one after the other, with the SDK's processor time at
 * the function's share of a core. Memory in GB.
 */
export const lambda = {
  ingest: { batchMs: 78, moreMs: 4, gb: 1.769 },
  beside: { batchMs: 13, moreMs: 1, gb: 1.769 },
  service: { batchMs: 56, moreMs: 3, gb: 1.769 },
  export: { batchMs: 82, moreMs: 3, gb: 1.769 },
  import: { batchMs: 66, moreMs: 3, gb: 1.769 },
} as const satisfies { readonly [K in BatchKind]: object };

/**
 * An event source mapping that has a maximum concurrency keeps five pollers a queue, which ask every twenty
 * seconds where nothing is (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
 */
export const emptyReceivesAMonth = 5 * 3 * 60 * 24 * 30;

/** Bytes that CloudWatch counts for a log line besides its text. */
export const logLineBytes = 26;
