/** One cluster, and six clients that ask a Service with an address all the time. */
import { type Clients, makeClients, startClients } from './clients.ts';
import { type OneCluster, startOneCluster, type Writer } from './one-cluster.ts';
import { deployment, namespaceOf, type Servers, service } from './workload.ts';

export interface AskedCluster {
  readonly cluster: OneCluster;
  readonly asking: Clients;
}

export async function startAskedCluster(writer: Writer, servers: Servers, nodes = 2): Promise<AskedCluster> {
  const { namespace } = servers;
  const cluster = await startOneCluster(writer, nodes);
  try {
    await cluster.apply([namespaceOf(namespace), service(servers), deployment(servers)]);
    const clients = await makeClients(cluster, namespace, 6);
    await cluster.rolledOut(namespace);
    const address = (await cluster.api.get('Service', namespace, 'web'))?.spec?.clusterIP;
    const asking = startClients(cluster.nodes, clients, { to: `http://${address}:80`, seconds: 600 });
    await asking.answered((a) => a.error === undefined, 0);
    await asking.more(20);
    return { cluster, asking };
  } catch (e) {
    console.log(cluster.said.join('\n'));
    await cluster.stop();
    throw e;
  }
}
