/** Waits at the start of a local run until every cluster is identified and its first lists are applied. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import type { Connections } from './clusters/connection-files.ts';
import type { LocalHub, Unsynced } from './prepare-hub.ts';

export interface FirstLists {
  readonly waiting: readonly string[];
  /** Number of applied lists of the waiting clusters. */
  readonly applied: number;
}

export async function synced(
  hub: LocalHub,
  connections: Connections,
  signal: AbortSignal,
  onProgress: (lists: FirstLists) => void,
): Promise<void> {
  const uids: { [cluster: string]: string } = {};
  const identify = async (id: string, connection: Connection) => {
    const api = httpsClusterApi(connection, { fieldManager: 'fleet-endpoints' });
    uids[id] = await api.identity().finally(() => api.close());
  };
  for (;;) {
    // An unreachable cluster or a restarting table is retried a moment later.
    const unknown = Object.entries(connections).filter(([id]) => !uids[id]);
    await Promise.all(unknown.map(([id, connection]) => identify(id, connection).catch(() => {})));
    refuseTwins(uids);
    const waiting: readonly Unsynced[] = await hub
      .unsynced(uids)
      .catch(() => Object.keys(connections).map((id) => ({ id, lists: 0 })));
    if (waiting.length === 0) return;
    onProgress({
      waiting: waiting.map(({ id }) => id),
      applied: waiting.map(({ lists }) => lists).reduce((a, b) => a + b, 0),
    });
    await sleep(150, undefined, { signal });
  }
}

/** Throws a UsageError if two connections lead to one cluster, because it would export each Service twice. */
function refuseTwins(uids: { readonly [cluster: string]: string }): void {
  const [twins] = [...Map.groupBy(Object.entries(uids), ([, uid]) => uid).values()].filter(
    (same) => same.length > 1,
  );
  if (twins)
    throw new UsageError(
      `${twins.map(([id]) => id).join(' and ')} are one cluster under several addresses: leave one --context out`,
    );
}
