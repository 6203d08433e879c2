import type { Actor } from '#test/worlds/simulation/world/actor.ts';

/** Who raised a work item last, and to which generation. */
export interface Raised {
  readonly actor: Actor;
  readonly gen: number;
}

/**
 * Returns true if work of this generation may be pending at rest, until sweep finds it overdue. Its worker
 * raised the generation without a wake-up, because it died, was paused, or a call failed. The cause of the
 * generation comes again, but the next worker may find no cause any more (the exception to invariant 1,
 * shared/workqueue/README.md): another worker has notified the same change, the Service is deleted, or its
 * selector has changed. The outputs are checked separately.
 */
export const wasLeftBehind = (raised: Raised | undefined, generation: number): boolean =>
  raised?.gen === generation &&
  (raised.actor.dead || raised.actor.paused || raised.actor.isRelieved || raised.actor.hasFailed);
