import { ClusterApiError } from '#shared/cluster/errors.ts';

/** A view of the cluster has ended: its versions went back or its identity changed. Everything is listed anew, as another session. */
export class ClusterReplaced extends Error {
  override readonly name = 'ClusterReplaced';
  /** It is the cluster that we know, at an earlier point of its history. */
  readonly wentBack: boolean;

  constructor(message: string, { wentBack }: { readonly wentBack: boolean }) {
    super(message);
    this.wentBack = wentBack;
  }
}

/** The queue may be another one, which has been told nothing. Everything is listed for it, as another session. */
export class QueueReplaced extends Error {
  override readonly name = 'QueueReplaced';
}

/** The watch saw a version older than the one before. Only a consistent list can tell a lagging server from a restored cluster. */
export class WentBack extends Error {
  override readonly name = 'WentBack';
}

/** The API server refuses us for good, as far as one can see at the start. */
export class NotAuthorised extends Error {
  override readonly name = 'NotAuthorised';
  readonly status: number;
  readonly verb: string;
  readonly resource: string;

  constructor(verb: string, resource: string, cause: ClusterApiError) {
    super(`not authorised: ${verb} ${resource}: ${cause.message}`, { cause });
    this.status = cause.status;
    this.verb = verb;
    this.resource = resource;
  }
}

export const isRefused = (e: unknown): e is ClusterApiError => e instanceof ClusterApiError && (e.status === 401 || e.status === 403);

/** How long to wait before the same is tried again; `attempt` counts failures in a row from 0, `random` is below 1. */
export function retryDelayMs(e: unknown, attempt: number, random: number): number {
  if (e instanceof ClusterApiError) {
    // Until somebody changes the role.
    if (e.status === 403) return 30_000;
    // As told, and a little later, so that a fleet does not come back in one instant.
    if (e.retryAfterSeconds !== undefined) return e.retryAfterSeconds * 1000 + random * 1000;
  }
  return backoffMs(attempt, 800, random);
}

/** Full jitter up to `firstMs`·2^attempt, 30 s at most; never less than a tenth of a second. */
export const backoffMs = (attempt: number, firstMs: number, random: number): number =>
  Math.max(100, random * Math.min(30_000, firstMs * 2 ** Math.min(attempt, 20)));
