/**
 * Answers of an API server as JSON. A proxy on the way may answer in its place: what it sends is a fault of
 * the connection, not of the object.
 */
import { ClusterApiError } from './errors.ts';

interface Fields {
  readonly [field: string]: unknown;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws a ClusterApiError of status 0 if the body is not a JSON object. */
export function parseAnswer(body: Buffer): Fields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch (cause) {
    throw malformed('is not JSON', body, cause);
  }
  if (!isFields(parsed)) throw malformed('is not a JSON object', body);
  return parsed;
}

/** Throws a ClusterApiError of status 0 if the body is not an object of the API: one without metadata. */
export function parseObject<T>(body: Buffer): T {
  const parsed = parseAnswer(body);
  if (!isFields(parsed['metadata'])) throw malformed('is an object without metadata', body);
  return parsed as T;
}

export interface WirePage<T> {
  readonly resourceVersion: string;
  /** Undefined: the page is the last one. */
  readonly continue: string | undefined;
  readonly items: readonly T[];
}

/** Throws a ClusterApiError of status 0 if the body is not a page of a list. */
export function parsePage<T>(body: Buffer): WirePage<T> {
  const { metadata, items } = parseObject<{ readonly metadata: Fields; readonly items?: unknown }>(body);
  const { resourceVersion = '', continue: token } = metadata;
  const all = items ?? [];
  if (typeof resourceVersion !== 'string' || (token !== undefined && typeof token !== 'string'))
    throw malformed('is a list of other metadata', body);
  if (!Array.isArray(all) || !all.every((item: unknown) => isFields(item) && isFields(item['metadata'])))
    throw malformed('is a list with items that are no objects', body);
  return { resourceVersion, continue: token || undefined, items: all as readonly T[] };
}

const malformed = (what: string, body: Buffer, cause?: unknown): ClusterApiError =>
  new ClusterApiError(`the API server's answer ${what}: ${JSON.stringify(body.subarray(0, 80).toString())}`, {
    status: 0,
    cause,
  });
