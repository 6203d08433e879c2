/** Errors that end a session or a watch of the relay, and what each one means. */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';

/**
 * A session has ended: the cluster's versions went back, or its identity changed. The next session lists
 * every kind.
 */
export class ClusterReplaced extends Error {
  override readonly name = 'ClusterReplaced';
  /** The same cluster, at an earlier point of its history. */
  readonly wentBack: boolean;

  constructor(message: string, { wentBack }: { readonly wentBack: boolean }) {
    super(message);
    this.wentBack = wentBack;
  }
}

/**
 * The queue may be a new one, whose hub has no state of the cluster. The next session lists every kind for
 * it.
 */
export class QueueReplaced extends Error {
  override readonly name = 'QueueReplaced';
}

/**
 * The watch returned a version older than the one before. Only a consistent list distinguishes a lagging
 * server from a restored cluster.
 */
export class WentBack extends Error {
  override readonly name = 'WentBack';
}

export const isRefused = (e: unknown): e is ClusterApiError =>
  e instanceof ClusterApiError && (e.status === 401 || e.status === 403);

/** Returns true if the API server does not serve the kind: a served collection is never "not found". */
export const isMissingKind = (e: unknown): boolean => e instanceof ClusterApiError && e.status === 404;

/** The delay before the next attempt; `attempt` counts failures in a row from 0, `random` is below 1. */
export function retryDelayMs(e: unknown, attempt: number, random: number): number {
  // Retry-After with a random addition, so that a fleet does not retry in one instant.
  if (e instanceof ClusterApiError && e.retryAfterSeconds !== undefined)
    return e.retryAfterSeconds * 1000 + random * 1000;
  return backoffMs(attempt, 800, random);
}

/** Full jitter up to `firstMs`·2^attempt, 30 s at most; never less than a tenth of a second. */
export const backoffMs = (attempt: number, firstMs: number, random: number): number =>
  Math.max(100, random * Math.min(30_000, firstMs * 2 ** Math.min(attempt, 20)));
