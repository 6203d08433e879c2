import { randomUUID } from 'node:crypto';
import { startApiServer } from '#infra/local/apiserver/http.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';
import { type ClusterUnderTest, describeClusterApi } from './cluster.ts';

const fieldManager = 'contract';

function newStore(): Store {
  let n = 0;
  return new Store({ now: Date.now, uid: randomUUID, suffix: () => String(n++).padStart(5, '0') });
}

// No garbage collector runs here, so a namespace stays in termination.
const namespaces = (store: Store): Pick<ClusterUnderTest, 'createNamespace' | 'terminateNamespace'> => ({
  createNamespace: async (name) => void store.create('Namespace', '', { metadata: { name } }),
  terminateNamespace: async (name) => void store.delete('Namespace', '', name),
});

describeClusterApi('in memory', async () => {
  const store = newStore();
  return { api: memoryClusterApi(store, { fieldManager }), ...namespaces(store), close: async () => {} };
});

describeClusterApi('over sockets, embedded server', async () => {
  const store = newStore();
  const server = await startApiServer({ store, token: 'secret' });
  const api = httpsClusterApi({ server: server.url, token: 'secret' }, { fieldManager });
  return {
    api,
    ...namespaces(store),
    close() {
      api.close();
      return server.close();
    },
  };
});

// Against a real control plane: CONTRACT_SERVER=https://127.0.0.1:6443 CONTRACT_TOKEN=… npx vitest run
// test/unit/contract/cluster.test.ts
const { CONTRACT_SERVER: server, CONTRACT_TOKEN: token } = process.env;
if (server) {
  describeClusterApi('over sockets, the server named', async () => {
    const connection = { server, insecureSkipTlsVerify: true, ...(token && { token }) };
    const api = httpsClusterApi(connection, { fieldManager });
    return {
      api,
      async createNamespace(name) {
        await api.transport.request('POST', '/api/v1/namespaces', {
          body: JSON.stringify({ metadata: { name } }),
        });
      },
      async terminateNamespace(name) {
        await api.transport.request('DELETE', `/api/v1/namespaces/${name}`);
      },
      close: async () => api.close(),
    };
  });
}
