/**
 * How long a call takes on AWS, in ms, by the numbers that are published. Each distribution is a line through
 * its points, in the logarithm of the time.
 */
export interface Distribution {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** Duration that one of ten thousand calls exceeds. AWS does not publish it: five times p99 is assumed. */
  readonly p9999: number;
}

export const distributions = {
  /**
   * The API server's commit to the relay's reading of the event, in the same region; aws-internal networks'
   * round trip and the watch cache.
   */
  watch: { p50: 3, p90: 5, p99: 10, p9999: 50 },
  /**
   * From before SendMessage to the first line of the handler, standard queue, warm function:
   * bitesizedserverless.com, "Comparing the latency of event-driven services": 16 / 34 / 105 ms.
   */
  queueToHandler: { p50: 16, p90: 34, p99: 105, p9999: 525 },
  /** SendMessage by itself, part of the line above. */
  queueSend: { p50: 8, p90: 14, p99: 35, p9999: 175 },
  /**
   * GetItem, BatchGetItem and Query of small items, strong: docs.aws.amazon.com/amazondynamodb, "single-digit
   * milliseconds"; the 99th percentile as users report it.
   */
  tableRead: { p50: 3, p90: 6, p99: 15, p9999: 75 },
  /** PutItem and UpdateItem. */
  tableWrite: { p50: 5, p90: 9, p99: 20, p9999: 100 },
  /**
   * A write to an API server in the region: a round trip, admission, and etcd's commit to disk
   * (etcd.io/docs/tuning: 10 ms at the 99th percentile).
   */
  apiWrite: { p50: 12, p90: 22, p99: 60, p9999: 300 },
  apiRead: { p50: 5, p90: 10, p99: 40, p9999: 200 },
  /**
   * New container: environment, runtime, and 700 KB of modules; docs.aws.amazon.com/lambda, "typically 100 ms
   * to over 1 second".
   */
  coldStart: { p50: 350, p90: 450, p99: 700, p9999: 1_400 },
  /**
   * TCP and TLS to an endpoint that this container has not met: two round trips and the handshake's processor
   * time.
   */
  handshake: { p50: 8, p90: 15, p99: 40, p9999: 200 },
} as const satisfies { readonly [call: string]: Distribution };

export type CallName = keyof typeof distributions;

/** Round trip to an API server elsewhere, beside what a call takes in the region. */
export const farAwayMs = 30;

/** Processor time of a call in the AWS SDK at the functions' share of a core (npm run bench -- sdk). */
export const sdkMs = 1;

/** `chance`: at least 0, below 1. Whole milliseconds, so that virtual time, which is whole, adds nothing. */
export function draw(name: CallName, chance: number): number {
  const { p50, p90, p99, p9999 } = distributions[name];
  const points: readonly (readonly [share: number, ms: number])[] = [
    [0, p50 / 2],
    [0.5, p50],
    [0.9, p90],
    [0.99, p99],
    [0.9999, p9999],
    [1, p9999],
  ];
  const to = points.findIndex(([share]) => share > chance);
  const [share, ms] = points[to] as (typeof points)[number];
  const [shareBefore, msBefore] = points[to - 1] as (typeof points)[number];
  const part = (chance - shareBefore) / (share - shareBefore);
  return Math.round(Math.exp(Math.log(msBefore) + part * (Math.log(ms) - Math.log(msBefore))));
}
