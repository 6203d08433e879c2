/**
 * A consistent list from the API server, page by page, with pages small enough for the memory of the reader.
 */
import { parsePage } from './api-answer.ts';
import { ClusterApiError, isTooLarge } from './errors.ts';
import { statusError } from './status.ts';
import type { HttpResponse, HttpTransport, RequestOptions } from './transport.ts';

/** One page of a list: objects as they came, but without the kind and apiVersion that a list leaves out. */
export interface Page<T> {
  /** The same on every page of one list. */
  readonly resourceVersion: string;
  readonly items: readonly T[];
  /** As it came. */
  readonly bytes: number;
}

export interface ListOptions extends Pick<RequestOptions, 'query' | 'signal' | 'timeoutMs'> {
  /** Objects of a page; 500 by default, as in client-go. */
  readonly pageSize?: number;
}

/**
 * A larger page is requested again with a quarter of the objects: memory holds it several times over. 500
 * usual pods have at most half as many bytes.
 */
const maxPageBytes = 32 << 20;

/**
 * A consistent list, page by page. A 410 for a continue token that took too long comes out as an error: what
 * was yielded so far must be dropped.
 */
export async function* listPages<T>(
  transport: Pick<HttpTransport, 'request'>,
  path: string,
  options: ListOptions = {},
): AsyncGenerator<Page<T>> {
  const { query, pageSize = 500, ...call } = options;
  let limit = pageSize;
  let token: string | undefined;
  const ask = async (): Promise<HttpResponse> => {
    for (;;) {
      try {
        return await transport.request('GET', path, {
          ...call,
          query: { ...query, limit, continue: token },
          idempotent: true,
          maxBytes: maxPageBytes,
        });
      } catch (error) {
        if (!isTooLarge(error) || limit === 1) throw error;
        limit = Math.max(1, limit >> 2);
      }
    }
  };
  do {
    const answer = await ask();
    if (answer.status !== 200) throw statusError(answer);
    const page = parsePage<T>(answer.body);
    if (answer.body.length < maxPageBytes / 4) limit = Math.min(pageSize, limit * 2);
    // Such a list would never end.
    if (page.continue !== undefined && page.continue === token)
      throw new ClusterApiError('a page of a list names itself as the next page', { status: 0 });
    token = page.continue;
    yield { resourceVersion: page.resourceVersion, items: page.items, bytes: answer.body.length };
  } while (token !== undefined);
}

/** Status 410: the resourceVersion or continue token is older than what the server remembers. */
export const isExpired = (e: unknown): boolean => e instanceof ClusterApiError && e.status === 410;
