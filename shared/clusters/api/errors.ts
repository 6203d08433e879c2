import type { ApiFailure } from '#shared/kube/types.ts';

const maxRetryAfterSeconds = 300;

type FailureOptions = Partial<Omit<ApiFailure, 'message'>> & {
  readonly fields?: readonly string[];
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
};

/** A call to a cluster's API that failed. Read it through the predicates below, never by its text. */
export class ClusterApiError extends Error implements ApiFailure {
  override readonly name = 'ClusterApiError';
  readonly status: number;
  readonly reason: string | undefined;
  readonly causes: readonly string[];
  /** `details.causes[].field` of the Status body. */
  readonly fields: readonly string[];
  /**
   * From the Retry-After header or the Status body, in seconds; bounded, as some proxy's wrong one must not
   * silence us.
   */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, failure: FailureOptions) {
    super(message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.status = failure.status ?? 0;
    this.reason = failure.reason;
    this.causes = failure.causes ?? [];
    this.fields = failure.fields ?? [];
    this.retryAfterSeconds =
      failure.retryAfterSeconds && Math.min(failure.retryAfterSeconds, maxRetryAfterSeconds);
  }
}

export const isNotFound = (e: unknown): boolean => e instanceof ClusterApiError && e.status === 404;
/**
 * A PUT or DELETE whose precondition does not hold; AlreadyExists has the same status but another reason
 * (API-3).
 */
export const isConflict = (e: unknown): boolean =>
  e instanceof ClusterApiError && e.status === 409 && e.reason !== 'AlreadyExists';
export const isAlreadyExists = (e: unknown): boolean =>
  e instanceof ClusterApiError && e.status === 409 && e.reason === 'AlreadyExists';
export const hasCause = (e: unknown, cause: string): boolean =>
  e instanceof ClusterApiError && e.causes.includes(cause);
/**
 * A create refused because its namespace is going away: the address type is done, without an error (ES-61).
 */
export const isNamespaceTerminating = (e: unknown): boolean => hasCause(e, 'NamespaceTerminating');

/** The server's validation refuses the object for this field, or for what is in it. */
export const isInvalid = (e: unknown, field: string): e is ClusterApiError =>
  e instanceof ClusterApiError && e.status === 422 && e.fields.some((f) => f.startsWith(field));

/** The reason of a call that we gave up ourselves. */
export const timedOut = 'TimedOut';

/** The reason of an answer that we broke off because it was larger than we had asked for. */
export const tooLarge = 'TooLarge';
export const isTooLarge = (e: unknown): boolean => e instanceof ClusterApiError && e.reason === tooLarge;

/**
 * The reason of a call that was never made: AWS gave us no credentials just now. The cluster's API was not
 * asked and is not at fault.
 */
export const noCredentials = 'NoCredentials';
export const isWithoutCredentials = (e: unknown): boolean =>
  e instanceof ClusterApiError && e.reason === noCredentials;

/**
 * Failed calls by their fault. `treatmentOf` in functions/sync/admission/failure-outcome.ts has the
 * consequences.
 */
export type Failure =
  | 'no-credentials'
  /**
   * The connection could not be made, or broke, or the answer did not come from an API server. One may fail
   * alone in a cluster that is well.
   */
  | 'connection'
  /** A 5xx, or a call without an answer in time: by our clock, or by the API server's (408). */
  | 'server'
  /** The cluster refuses the hub's credentials, or throttles it. */
  | 'cluster'
  | 'forbidden'
  | 'invalid'
  /** The object, or its kind, is not there, or not as the call expects. */
  | 'changed'
  /** Any other fault of the object, for instance an answer that is too large. */
  | 'object';

export function failureOf(error: ClusterApiError): Failure {
  const { status } = error;
  if (isWithoutCredentials(error)) return 'no-credentials';
  if (isTooLarge(error)) return 'object';
  if (status >= 500) return 'server';
  if (status === 0) return error.reason === timedOut ? 'server' : 'connection';
  return failureOfStatus.get(status) ?? 'object';
}

/** Without 5xx, and 0 for a call without an answer. */
const failureOfStatus: ReadonlyMap<number, Failure> = new Map([
  [401, 'cluster'],
  [403, 'forbidden'],
  [404, 'changed'],
  [408, 'server'],
  [409, 'changed'],
  [422, 'invalid'],
  [429, 'cluster'],
]);

/**
 * Returns true for a refusal by rights, admission or validation. Other objects of the cluster may still be
 * writable.
 */
export const isRefusal = (e: unknown): e is ClusterApiError =>
  e instanceof ClusterApiError && ['forbidden', 'invalid'].includes(failureOf(e));
