import type { BatchKind } from '../batch-kind.ts';

/**
 * Milliseconds of a warm batch on AWS, of one message and for each message more: the means that `npm run bench -- latency` prints, of the calls that are
 * made one after the other, with the SDK's processor time at the function's share of a core. Memory in GB.
 */
export const lambda = {
  ingest: { batchMs: 36, moreMs: 1, gb: 1 },
  beside: { batchMs: 13, moreMs: 1, gb: 1 },
  service: { batchMs: 56, moreMs: 3, gb: 1.769 },
  export: { batchMs: 82, moreMs: 3, gb: 1.769 },
  import: { batchMs: 66, moreMs: 3, gb: 1.769 },
} as const satisfies { readonly [K in BatchKind]: object };

/**
 * An event source mapping that has a maximum concurrency keeps five pollers a queue, which ask every twenty seconds where nothing is
 * (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
 */
export const emptyReceivesAMonth = 5 * 3 * 60 * 24 * 30;

/** Bytes that CloudWatch counts for a log line besides its text. */
export const logLineBytes = 26;
