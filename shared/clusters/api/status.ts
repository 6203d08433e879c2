import type { Status } from '#shared/kube/types.ts';
import { ClusterApiError } from './errors.ts';

/**
 * The error that an answer of status 400 and more stands for: its message is the Status', which is what
 * client-go prints.
 */
export function statusError(answer: {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: Buffer | string;
}): ClusterApiError {
  const text = answer.body.toString();
  const status = parseStatus(text);
  const message =
    textOf(status?.message) ??
    (text.trim().slice(0, 500) || `the server answered with status ${answer.status}`);
  return errorOfStatus(
    { ...status, message, code: answer.status },
    retryAfterHeader(answer.headers['retry-after']),
  );
}

/** It goes into logs, Events and messages of ours; upstream's own are shorter. */
const maxMessageLength = 8 * 1024;

/**
 * The same for a Status that came by itself, such as the object of an ERROR event of a watch. Fields of
 * another type count as absent.
 */
export function errorOfStatus(status: Status, retryAfterSeconds?: number): ClusterApiError {
  const reason = textOf(status.reason);
  const { causes, retryAfterSeconds: seconds } = status.details ?? {};
  const all = Array.isArray(causes)
    ? (causes as readonly ({ readonly reason?: unknown; readonly field?: unknown } | null)[])
    : [];
  return new ClusterApiError(
    (textOf(status.message) ?? reason ?? 'unknown error').slice(0, maxMessageLength),
    {
      status: Number.isInteger(status.code) ? (status.code as number) : 500,
      ...(reason !== undefined && { reason }),
      causes: all.flatMap((cause) => textOf(cause?.reason) ?? []),
      fields: all.flatMap((cause) => textOf(cause?.field) ?? []),
      retryAfterSeconds:
        retryAfterSeconds ?? (typeof seconds === 'number' && seconds > 0 ? seconds : undefined),
    },
  );
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Returns undefined if the text is not a Status. */
export function parseStatus(text: string): Status | undefined {
  try {
    const parsed = JSON.parse(text) as Status | null;
    return parsed?.kind === 'Status' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds only: the API server never sends a date. */
function retryAfterHeader(value: string | string[] | undefined): number | undefined {
  const seconds = Number(value);
  return value !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
