/**
 * The wait of a run that could not be done and is enqueued again, by cause. The service itself is not at fault: no retry is counted, and the wake-up comes
 * back until the cause is gone. (Failures of a service have upstream's back-off: shared/workqueue/rules/backoff.ts.)
 */
export interface RequeueRule {
  /** Wait after the first such run, in seconds. It doubles with each further run in a row, up to `maxSeconds`. */
  readonly afterSeconds: number;
  /** Left out: every wait is `afterSeconds`. */
  readonly maxSeconds?: number;
  /** Share of the wait that is drawn at random, so that runs which wait for the same cause do not return at once; 0 by default. */
  readonly jitter?: number;
  /** All runs of the cluster wait for this cause. A wake-up that is pending within this time covers a later run too. Left out: within its own wait. */
  readonly coalesceWithinSeconds?: number;
}

export const requeueDefaults = {
  /** The cluster is paused, and the snapshot does not know the Service, so the switch back would not wake it. */
  paused: { afterSeconds: 30, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300 },
  firstListsIncomplete: { afterSeconds: 1, maxSeconds: 30, coalesceWithinSeconds: 30 },
  circuitOpen: { afterSeconds: 30, maxSeconds: 300, jitter: 0.5, coalesceWithinSeconds: 300 },
  /** The cluster answers again, and its load is ramped up. */
  recovering: { afterSeconds: 10, jitter: 0.8 },
  /** Another client keeps writing the objects of the service; the wait counts from the end of the stop. */
  contested: { afterSeconds: 1 },
  connectionLost: { afterSeconds: 1 },
  noCredentials: { afterSeconds: 5, jitter: 0.8, coalesceWithinSeconds: 5 },
  /** The function ends before a call to the cluster would. */
  outOfTime: { afterSeconds: 1 },
  podsUnreadable: { afterSeconds: 1 },
  /** The Pods of a namespace have more bytes than a run reads. */
  podsTooLarge: { afterSeconds: 300 },
  /** The mass-removal guard found that the cluster differs from the snapshot. */
  snapshotInDoubt: { afterSeconds: 60 },
  /** Shadow mode: a difference counts if it is still there after this wait. */
  differenceUnconfirmed: { afterSeconds: 10 },
  handOver: { afterSeconds: 1, maxSeconds: 30 },
  comparedAfterHandOver: { afterSeconds: 10 },
  /** Another run has changed the set's index meanwhile. */
  setChanged: { afterSeconds: 1 },
  /** Another client has changed what an import writes. */
  importChanged: { afterSeconds: 1, maxSeconds: 60 },
  importRefused: { afterSeconds: 10, maxSeconds: 300 },
  sourceSilent: { afterSeconds: 10, maxSeconds: 300 },
  /** Slices of an evicted source stay while no other source is ready. */
  noReadySource: { afterSeconds: 300 },
} as const satisfies Record<string, RequeueRule>;

export type RequeueCause = keyof typeof requeueDefaults;
export type RequeueLimits = Readonly<Record<RequeueCause, RequeueRule>>;

/** `rounds`: how many runs in a row had the same fate before; `random` in [0, 1). Whole seconds, at least 1. */
export function requeueSeconds({ afterSeconds, maxSeconds = afterSeconds, jitter = 0 }: RequeueRule, rounds: number, random: number): number {
  const seconds = Math.min(afterSeconds * 2 ** rounds, maxSeconds);
  return Math.max(1, Math.ceil(seconds * (1 - jitter) + seconds * jitter * random));
}
