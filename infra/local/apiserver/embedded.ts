import { randomUUID } from 'node:crypto';
import { startGarbageCollector } from './gc.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './http.ts';
import { Store, type StoreOptions } from './store.ts';

/** A whole cluster, as far as endpoints need one: store, wire and garbage collection, in this process. */
export async function startEmbeddedCluster(
  options: Partial<ApiServerOptions> & Pick<StoreOptions, 'historyLimit' | 'dualStack'> = {},
): Promise<ApiServer & { readonly store: Store }> {
  const store = new Store({ ...options, now: Date.now, uid: randomUUID, suffix: () => randomUUID().slice(0, 5) });
  const stop = startGarbageCollector(store, (round) => setTimeout(round, 50));
  const { url, close } = await startApiServer({ ...options, store });
  return { store, url, close: () => close().finally(stop) };
}
