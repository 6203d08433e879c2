/** Failed calls of an API server, and what is left of the call. */
import { ClusterApiError, timedOut } from '#shared/clusters/api/errors.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Flaw } from '#test/worlds/simulation/world/actor.ts';

export const apiErrors: readonly (() => ClusterApiError)[] = [
  () => new ClusterApiError('connection reset', { status: 0 }),
  () => new ClusterApiError('connection reset', { status: 0 }),
  () => new ClusterApiError('timed out', { status: 0, reason: timedOut }),
  () => new ClusterApiError('the object has been modified', { status: 409, reason: 'Conflict' }),
  () =>
    new ClusterApiError('too many requests', {
      status: 429,
      reason: 'TooManyRequests',
      retryAfterSeconds: 3,
    }),
  () => new ClusterApiError('internal error', { status: 500, reason: 'InternalError' }),
  () => new ClusterApiError('etcdserver: leader changed', { status: 500, reason: 'InternalError' }),
  () => new ClusterApiError('service unavailable', { status: 503, reason: 'ServiceUnavailable' }),
  () =>
    new ClusterApiError('request did not complete within the allotted timeout', {
      status: 504,
      reason: 'Timeout',
    }),
  // Of a proxy in between, without a Status.
  () => new ClusterApiError('<html>not found</html>', { status: 404 }),
  () => new ClusterApiError('Unauthorized', { status: 401, reason: 'Unauthorized' }),
  () => new ClusterApiError('gone', { status: 410, reason: 'Expired' }),
  () => new ClusterApiError('quota exceeded', { status: 403, reason: 'Forbidden' }),
  () => new ClusterApiError('invalid', { status: 422, reason: 'Invalid' }),
];

/**
 * A write may have been carried out before a proxy or the server gave up, or before a client in between
 * repeated it (409).
 */
const mayHaveEffect = ({ status }: ClusterApiError): boolean =>
  status === 0 || status >= 500 || status === 409;

export function apiFlaw(random: Random, writes: boolean): Flaw {
  const error = random.pick(apiErrors)();
  return { error, when: writes && mayHaveEffect(error) && random.chance(0.5) ? 'after' : 'before' };
}
