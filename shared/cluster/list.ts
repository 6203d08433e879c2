import { ClusterApiError } from './errors.ts';
import { statusError } from './status.ts';
import type { HttpTransport, RequestOptions } from './transport.ts';

/** One page of a list: objects as they came, but without the kind and apiVersion that a list leaves out. */
export interface Page<T> {
  /** The same on every page of one list. */
  readonly resourceVersion: string;
  readonly items: readonly T[];
  readonly last: boolean;
}

export interface ListOptions extends Pick<RequestOptions, 'query' | 'signal' | 'timeoutMs'> {
  /** 500 unless told, which is what client-go asks for. */
  readonly pageSize?: number;
}

/** A consistent list, page by page. A 410 for a continue token that took too long comes out as an error: what was yielded so far must be dropped. */
export async function* listPages<T>(transport: Pick<HttpTransport, 'request'>, path: string, options: ListOptions = {}): AsyncGenerator<Page<T>> {
  const { query, pageSize = 500, ...call } = options;
  let token: string | undefined;
  do {
    const answer = await transport.request('GET', path, { ...call, query: { ...query, limit: pageSize, continue: token }, idempotent: true });
    if (answer.status !== 200) throw statusError(answer);
    const { metadata, items } = parsePage<T>(answer.body);
    token = metadata?.continue || undefined;
    yield { resourceVersion: metadata?.resourceVersion ?? '', items: items ?? [], last: token === undefined };
  } while (token !== undefined);
}

/** Status 410: the resourceVersion or continue token is older than what the server remembers. */
export const isExpired = (e: unknown): boolean => e instanceof ClusterApiError && e.status === 410;

interface WirePage<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly T[] | null;
}

function parsePage<T>(body: Buffer): WirePage<T> {
  try {
    return JSON.parse(body.toString()) as WirePage<T>;
  } catch (cause) {
    throw new ClusterApiError('the answer to a list is not JSON', { status: 0, cause });
  }
}
