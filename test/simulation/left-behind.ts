import type { Actor } from './actor.ts';

/** Who raised a work item last, and to which generation. */
export interface Raised {
  readonly actor: Actor;
  readonly gen: number;
}

/**
 * May work of this generation be owed at rest, until sweep finds it overdue? Its worker raised it and sent no wake-up, because it died, stood still, or
 * was refused a call. What called for the generation comes again, but the next worker may find that nothing calls for it any more (the exception to
 * invariant 1, shared/workqueue/README.md): another worker has told of the same change meanwhile, the Service has gone, or its selector has changed.
 * That the outputs are right is checked beside this.
 */
export const wasLeftBehind = (raised: Raised | undefined, generation: number): boolean =>
  raised?.gen === generation && (raised.actor.dead || raised.actor.paused || raised.actor.isRelieved || raised.actor.hasFailed);
