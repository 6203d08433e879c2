import { randomUUID } from 'node:crypto';
import { startGarbageCollector } from './gc.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './http.ts';
import { Store, type StoreOptions } from './store.ts';

/**
 * Starts the parts of a cluster that endpoints need, in this process: store, wire protocol and garbage
 * collection.
 */
export async function startEmbeddedCluster(
  options: Partial<ApiServerOptions> & Pick<StoreOptions, 'historyLimit' | 'dualStack'> = {},
): Promise<ApiServer & { readonly store: Store }> {
  const store = new Store({
    ...options,
    now: Date.now,
    uid: randomUUID,
    suffix: () => randomUUID().slice(0, 5),
  });
  const stop = startGarbageCollector(store, (round) => setTimeout(round, 50));
  const { url, close } = await startApiServer({ ...options, store });
  return { store, url, close: () => close().finally(stop) };
}
