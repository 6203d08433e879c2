import type { BatchEffects } from './batch-context.ts';

/**
 * The batch has no time to write more objects, or no memory to notify more services. When the message comes
 * again, objects that are written are skipped.
 */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** The rest of the time is for notifying the services, which takes twice as many calls. */
const writingShare = 1 / 3;

/**
 * Returns a function that throws OutOfTime once the time for writing is up, or once `effects` is full.
 * `deadline`: when the worker is stopped, ms since the epoch. A worker that is stopped before it has notified
 * the services has notified none of them, so only a share of the time until then is for writing.
 */
export function timeCheck(
  effects: Pick<BatchEffects, 'isFull'>,
  now: () => number,
  deadline: number,
): () => void {
  const until = now() + (deadline - now()) * writingShare;
  return () => {
    if (now() > until) throw new OutOfTime('too little time left to write more');
    if (effects.isFull) throw new OutOfTime('too many notifications to write more');
  };
}
