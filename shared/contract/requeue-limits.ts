/**
 * The wait of a requeued run by cause. The service itself is not at fault, so no retry is counted and the run
 * is requeued until the cause ends. Failures of a service have upstream's back-off
 * (shared/workqueue/rules/backoff.ts).
 */
export interface RequeueRule {
  /**
   * Wait after the first such run, in seconds. It doubles with each further run in a row, up to `maxSeconds`.
   */
  readonly afterSeconds: number;
  /** If absent, every wait is `afterSeconds`. */
  readonly maxSeconds?: number;
  /** Random share of the wait, so runs with the same cause do not return at once. 0 by default. */
  readonly jitter?: number;
  /**
   * While the cause lasts, each further change meets it too. A requeued run therefore sends no wake-up of its
   * own if one is pending that comes within this time. The default is the run's own wait.
   */
  readonly coalesceWithinSeconds?: number;
}

export const requeueDefaults = {
  /** The cluster's circuit is open, or the cluster is paused and the snapshot does not know the Service. */
  clusterUnavailable: { afterSeconds: 30, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300 },
  /** A kind's first list is not complete. */
  firstListsIncomplete: { afterSeconds: 1, maxSeconds: 30, coalesceWithinSeconds: 30 },
  /** The cluster answers again and its load is ramped up, or AWS returns no credentials for now. */
  recovering: { afterSeconds: 10, jitter: 0.8 },
  /** The API server has not served a call, and answers a probe. */
  callUnserved: { afterSeconds: 1, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300 },
  /**
   * Another run or client writes the same objects, slices of the next writer do not serve every ready address
   * yet, or the function would end before a call to the cluster.
   */
  soon: { afterSeconds: 1, maxSeconds: 60 },
  /**
   * What the run has seen counts if it still exists after this wait: a difference in shadow mode, the first
   * comparison after a hand-back, the pods of an export without a valid selector.
   */
  unconfirmed: { afterSeconds: 10 },
  /**
   * Another cluster of the set has not confirmed an export yet or is silent, or the cluster refuses a write of
   * an export or import.
   */
  setPending: { afterSeconds: 5, maxSeconds: 300 },
  /**
   * Endpoints stay as they are, because the cluster differs from the snapshot, the pods have more bytes than a
   * run reads, or other sources are not ready for each port of an evicted one.
   */
  endpointsKept: { afterSeconds: 60, maxSeconds: 300 },
} as const satisfies Record<string, RequeueRule>;

export type RequeueCause = keyof typeof requeueDefaults;
export type RequeueLimits = Readonly<Record<RequeueCause, RequeueRule>>;

/**
 * Returns whole seconds, at least 1. `rounds` is the number of earlier requeued runs in a row. `random` is in
 * [0, 1).
 */
export function requeueSeconds(
  { afterSeconds, maxSeconds = afterSeconds, jitter = 0 }: RequeueRule,
  rounds: number,
  random: number,
): number {
  const seconds = Math.min(afterSeconds * 2 ** rounds, maxSeconds);
  return Math.max(1, Math.ceil(seconds * (1 - jitter) + seconds * jitter * random));
}
