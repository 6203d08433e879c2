/**
 * One cluster, other kinds of Services: dual stack, headless by DNS, internalTrafficPolicy and topology
 * hints; the same script for both writers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#test/cluster/faults/until.ts';
import { type Answer, type Clients, makeClients, type Question, startClients } from './clients.ts';
import { startDns } from './dns.ts';
import { nothingLost, printFigures } from './figures.ts';
import { dnsAddress } from './network.ts';
import { type OneCluster, startOneCluster, type Writer } from './one-cluster.ts';
import { stopAfterwards } from './suite.ts';
import { deployment, namespaceOf, service } from './workload.ts';

const namespace = 'shop';
const title = 'One cluster: requests lost in a rolling update of 4 pods';
const writers: readonly Writer[] = ['kube-controller-manager', 'fleet-endpoints'];
afterAll(printFigures);

describe.each(writers)('other kinds of Services with endpoints of %s', (writer) => {
  let cluster: OneCluster;
  let clients: readonly string[];
  beforeAll(async () => {
    cluster = await startOneCluster(writer);
    await startDns(cluster.nodes, cluster.controlPlane);
    await cluster.apply([namespaceOf(namespace), deployment({ namespace, replicas: 4 })]);
    clients = await makeClients(cluster, namespace, 4);
    await cluster.rolledOut(namespace);
  });
  stopAfterwards(() => cluster);

  /** Makes a Service of the same pods, and returns the addresses of it. */
  async function made(name: string, spec: object): Promise<readonly string[]> {
    await cluster.apply([service({ name, namespace, service: { selector: { app: 'web' }, ...spec } })]);
    return (await cluster.api.get('Service', namespace, name))?.spec?.clusterIPs ?? [];
  }
  /** Asks during a rolling update, and notes and asserts that nothing was lost. */
  async function updated(
    what: string,
    question: Question,
    ready: (asking: Clients) => Promise<unknown> = async () => {},
  ): Promise<readonly Answer[]> {
    const asking = startClients(cluster.nodes, clients, question);
    try {
      await asking.answered((a) => a.error === undefined, 0);
      await ready(asking);
      const from = Date.now();
      await cluster.update(namespace);
      await asking.more(60);
      await asking.stop();
      nothingLost(title, what, writer, asking.since(from));
      return asking.since(from);
    } finally {
      await asking.stop();
    }
  }
  /** A pod's node by its address: 10.1.NODE.x. */
  const nodeOf = (address = ''): number => Number(address.split('.')[2]);
  const clientsNode = (client: string): number => clients.indexOf(client) % 2;
  const nearOnly = (answers: readonly Answer[]): boolean =>
    answers.every((a) => a.error === undefined && nodeOf(a.address) === clientsNode(a.client));

  it('dual stack: the Service answers by both families', async () => {
    const addresses = await made('dual', { ipFamilyPolicy: 'RequireDualStack' });
    expect(addresses).toHaveLength(2);
    await updated('dual stack by IPv4', { to: `http://${addresses[0]}:80` });
    await updated('dual stack by IPv6', { to: `http://[${addresses[1]}]:80` });
  });

  it('headless: each request goes to an address of DNS', async () => {
    await made('headless', { clusterIP: 'None' });
    const answers = await updated('headless by DNS', {
      to: `http://headless.${namespace}.svc.cluster.local:8080`,
      dns: dnsAddress,
    });
    expect(new Set(answers.map((a) => a.pod)).size).toBeGreaterThan(4);
  });

  it('internalTrafficPolicy Local: a client is answered from its own node', async () => {
    const [address] = await made('near', { internalTrafficPolicy: 'Local' });
    const answers = await updated('internalTrafficPolicy Local', { to: `http://${address}:80` });
    expect(nearOnly(answers)).toBe(true);
  });

  it('topology hints: a client is answered from its zone, and from elsewhere while its zone has no pod', async () => {
    const [address] = await made('zoned', { trafficDistribution: 'PreferSameZone' });
    const zoned = async (asking: Clients): Promise<void> => {
      const is = await until(() => asking.answers.length > 100 && nearOnly(asking.answers.slice(-100)));
      if (!is) throw new Error(`not answered by their zone: ${JSON.stringify(asking.answers.slice(-20))}`);
    };
    await updated('trafficDistribution PreferSameZone', { to: `http://${address}:80` }, zoned);
    const asking = startClients(cluster.nodes, clients, { to: `http://${address}:80` });
    try {
      await zoned(asking);
      // One pod is left, in one of both zones.
      const from = Date.now();
      await cluster.kubectl('scale', '-n', namespace, 'deployment/web', '--replicas=1');
      expect(await until(() => new Set(asking.answers.slice(-100).map((a) => a.pod)).size === 1)).toBe(true);
      // Pods that end count for the placement of new ones, which could all go to one zone.
      await cluster.rolledOut(namespace);
      await cluster.kubectl('scale', '-n', namespace, 'deployment/web', '--replicas=4');
      await zoned(asking);
      await asking.stop();
      nothingLost(title, 'a zone without pods, and back', writer, asking.since(from));
    } finally {
      await asking.stop();
    }
  });
});
