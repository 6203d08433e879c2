import { randomUUID } from 'node:crypto';
import { startGarbageCollector } from './gc.ts';
import { type ApiServer, startApiServer } from './http.ts';
import { Store } from './store.ts';

/** A whole cluster, as far as endpoints need one: store, wire and garbage collection, in this process. */
export async function startEmbeddedCluster(
  options: { readonly port?: number; readonly token?: string; readonly historyLimit?: number } = {},
): Promise<ApiServer & { readonly store: Store }> {
  const { historyLimit, ...server } = options;
  const suffix = () => randomUUID().replaceAll('-', '').slice(0, 5);
  const store = new Store({ now: Date.now, uid: randomUUID, suffix, ...(historyLimit !== undefined && { historyLimit }) });
  const stop = startGarbageCollector(store, (round) => setTimeout(round, 50));
  const { url, close } = await startApiServer({ store, ...server });
  return {
    store,
    url,
    close() {
      stop();
      return close();
    },
  };
}
