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
   * For causes that each further change meets too: a wake-up that is pending within this time also covers a
   * later run. The default is the run's own wait.
   */
  readonly coalesceWithinSeconds?: number;
  /**
   * The wait does not double with runs in a row, and the next cause begins with its first wait: an outage is
   * no reason for a long one after it.
   */
  readonly endsRow?: true;
}

export const requeueDefaults = {
  /** The cluster is paused, and the Service is not in the snapshot, so the switch back would not wake it. */
  paused: { afterSeconds: 30, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300 },
  /** A kind's first list is not complete. */
  firstListsIncomplete: { afterSeconds: 1, maxSeconds: 30, coalesceWithinSeconds: 30 },
  /** The cluster's circuit is open. The wait counts from the time at which it may be probed. */
  circuitOpen: { afterSeconds: 30, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300, endsRow: true },
  /** The cluster answers again, and its load is ramped up. */
  recovering: { afterSeconds: 10, jitter: 0.8, endsRow: true },
  /** Another client keeps writing the objects of the service. The wait begins at the end of the stop. */
  contested: { afterSeconds: 1 },
  /** The API server has not served a call, and answers a probe. */
  callUnserved: { afterSeconds: 1, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300 },
  /** AWS returns no credentials for now. */
  noCredentials: { afterSeconds: 5, jitter: 0.8, coalesceWithinSeconds: 5, endsRow: true },
  /** The function would end before a call to the cluster. */
  outOfTime: { afterSeconds: 1 },
  /** The Pods of a namespace have more bytes than a run reads. */
  podsTooLarge: { afterSeconds: 300 },
  /** The mass-removal guard, or the run of an export, found that the cluster differs from the snapshot. */
  snapshotInDoubt: { afterSeconds: 60 },
  /**
   * An exported Service has no valid selector any more. Its export follows the last one, whose pods wake no
   * run.
   */
  selectorUndecided: { afterSeconds: 10 },
  /** Shadow mode: a difference is confirmed if it still exists after this wait. */
  differenceUnconfirmed: { afterSeconds: 10 },
  /** Slices of the next writer do not serve every ready address yet. */
  handOver: { afterSeconds: 1, maxSeconds: 30 },
  /** Shadow mode compares a Service after its hand-back. */
  comparedAfterHandOver: { afterSeconds: 10 },
  /** Another run has changed the set's index meanwhile. */
  setChanged: { afterSeconds: 1 },
  /** Another client has changed objects of an import. */
  importChanged: { afterSeconds: 1, maxSeconds: 60 },
  /** Importers have not confirmed an export yet. */
  importsPending: { afterSeconds: 5, maxSeconds: 300 },
  /** The cluster refuses a write of an export or import. */
  importRefused: { afterSeconds: 10, maxSeconds: 300 },
  /**
   * An exporter of the name is silent, and its record does not show it yet, or the exports of a cluster of the
   * import are unknown.
   */
  sourceSilent: { afterSeconds: 10, maxSeconds: 300 },
  /** Slices of an evicted source stay while other sources are not ready for each port that it serves. */
  noReadySource: { afterSeconds: 300 },
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
