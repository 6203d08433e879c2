/**
 * The worker has credentials for every cluster, and it parses messages that come from one: an invocation reaches
 * the API of that cluster alone (docs/operate/security.md).
 */
import type { SyncDeps } from '#functions/sync/state/deps.ts';

/** `id`: the cluster whose queue invokes the worker. A connection to another cluster is refused. */
export const reachingOnly = (deps: SyncDeps, id: string): SyncDeps => ({
  ...deps,
  cluster: async (record, timeoutMs) => {
    if (record.id !== id)
      throw new Error(`a message from the queue of ${id} asks for the API of ${record.id}`);
    return deps.cluster(record, timeoutMs);
  },
});
