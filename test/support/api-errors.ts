/** Each way in which a call to a cluster's API can fail, by a name for people. */
import { ClusterApiError, timedOut, tooLarge } from '#shared/clusters/api/errors.ts';

const statuses = [400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 500, 501, 503, 504];

const unanswered = {
  'a broken connection': undefined,
  'no answer': timedOut,
  'too large an answer': tooLarge,
};

export const apiErrors: ReadonlyMap<string, ClusterApiError> = new Map([
  ...Object.entries(unanswered).map(
    ([name, reason]) => [name, new ClusterApiError(name, { status: 0, reason })] as const,
  ),
  ...statuses.map(
    (status) => [String(status), new ClusterApiError(`answer ${status}`, { status, reason: 'X' })] as const,
  ),
]);

/** By these the API server refuses the hub, and no single call. */
export const refusalsOfHub: readonly string[] = ['401', '429'];
