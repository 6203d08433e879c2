/** Reads a cluster's objects by its API, with the rights of the person who asks. Reads only. */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { listPages } from '#shared/clusters/api/list.ts';
import { statusError } from '#shared/clusters/api/status.ts';
import type { HttpTransport } from '#shared/clusters/api/transport.ts';

export interface LiveCluster {
  /** Resolves to undefined if the object, or its kind, does not exist, or may not be read. */
  get<T>(kind: string, path: string): Promise<T | undefined>;
  /** Resolves to undefined if the kind does not exist, or may not be listed. */
  list<T>(
    kind: string,
    path: string,
    query?: { readonly [name: string]: string },
  ): Promise<readonly T[] | undefined>;
  /** Kinds that could not be read, with the server's reason. */
  readonly unread: ReadonlyMap<string, string>;
  /** The time of the cluster's last answer, ms since the epoch. */
  readonly now: () => number;
}

/** Rejects if the cluster is out of reach, or does not know who asks. */
export function liveCluster({ request }: Pick<HttpTransport, 'request'>): LiveCluster {
  const unread = new Map<string, string>();
  let nowMs = Date.now();
  const timed: Pick<HttpTransport, 'request'> = {
    async request(...call) {
      const answer = await request(...call);
      nowMs = Date.parse(String(answer.headers.date)) || Date.now();
      return answer;
    },
  };
  async function unlessRefused<T>(kind: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ClusterApiError)) throw error;
      if (error.status === 404) return undefined;
      if (error.status === 0 || error.status === 401) throw error;
      unread.set(kind, error.message);
      return undefined;
    }
  }
  return {
    unread,
    now: () => nowMs,
    get: (kind, path) =>
      unlessRefused(kind, async () => {
        const answer = await timed.request('GET', path, { idempotent: true });
        if (answer.status >= 300) throw statusError(answer);
        return JSON.parse(answer.body.toString());
      }),
    list: <T>(kind: string, path: string, query: { readonly [name: string]: string } = {}) =>
      unlessRefused(kind, async () => {
        const items: T[] = [];
        for await (const page of listPages<T>(timed, path, { query, pageSize: 1_000 }))
          items.push(...page.items);
        return items;
      }),
  };
}
