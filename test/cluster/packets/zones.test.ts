/** Traffic is sent away from one of three zones, and comes back, while Services are asked all the time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { annotationSelector, labelServiceName } from '#shared/kube/names.ts';
import { until } from '#test/cluster/faults/until.ts';
import { type AskedCluster, startAskedCluster } from './asked-cluster.ts';
import { type Answer, type Clients, makeClients, startClients } from './clients.ts';
import { figure, lostOf, ms, nothingLost, printFigures } from './figures.ts';
import { stopAfterwards } from './suite.ts';
import { deployment, type Servers, service } from './workload.ts';

const namespace = 'shop';
const title = 'Zones: a Service that opts in, with pods in three zones';
afterAll(printFigures);

/** Of the hub's slices alone. */
const optedIn = (name: string, servers: Partial<Servers>): Servers => ({
  ...{ name, namespace, replicas: 6, service: { selector: undefined } },
  annotations: { [annotationSelector]: `app=${name}` },
  ...servers,
});
/** By the address of its pod, 10.1.NODE.x: each of the three nodes is in a zone of its own. */
const isOf = (node: number, { address = '' }: Answer): boolean => address.split('.')[2] === String(node);

describe('a zone that traffic is sent away from', () => {
  let cluster: AskedCluster['cluster'];
  let asking: AskedCluster['asking'];
  /** A Service all of whose pods are in the zone. */
  let askingZonal: Clients;
  beforeAll(async () => {
    ({ cluster, asking } = await startAskedCluster('opt-in', optedIn('web', {}), 3));
    const db = optedIn('db', { replicas: 2, nodeName: 'node-0' });
    await cluster.apply([service(db), deployment(db)]);
    await cluster.rolledOut(namespace, 'db');
    const clients = await makeClients(cluster, namespace, 6);
    const address = (await cluster.api.get('Service', namespace, 'db'))?.spec?.clusterIP;
    askingZonal = startClients(cluster.nodes, clients, {
      to: `http://${address}:80`,
      rate: 10,
      seconds: 600,
    });
    await askingZonal.answered((a) => a.error === undefined, 0);
  }, 240_000);
  stopAfterwards(() => cluster);

  const lastAnswers = (): readonly Answer[] => asking.answers.slice(-200);

  it('loses no request at away and back, and keeps a Service that is nowhere else', async () => {
    await until(() => [0, 1, 2].every((node) => lastAnswers().some((a) => isOf(node, a))));
    const slicesOfDb = async (): Promise<readonly (string | undefined)[]> =>
      (await cluster.api.list('EndpointSlice', namespace)).items
        .filter(({ metadata }) => metadata.labels?.[labelServiceName] === 'db')
        .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
        .sort();
    const unchanged = await slicesOfDb();
    const from = Date.now();
    const said = await cluster.command('zone', 'CLUSTER', 'zone-a', 'away', '--reason', 'drill');
    const switchedAt = Date.now();
    // Two pods on each node, or the scheduler has placed them otherwise.
    expect(said).toMatch(/[1-6] of (8|10) ready endpoints leave/);
    expect(said).toContain(`${namespace}/db`);
    const hasLeft = await until(() => lastAnswers().every((a) => a.atMs >= switchedAt && !isOf(0, a)));
    expect(hasLeft, JSON.stringify(lastAnswers().slice(-10))).toBe(true);
    await asking.more(150);
    const late = asking.since(switchedAt).filter((a) => isOf(0, a));
    figure(
      title,
      'away',
      'last answer of the zone',
      ms([Math.max(0, ...late.map((a) => a.atMs - switchedAt))]),
    );
    nothingLost(title, 'away', 'requests lost', asking.since(from));
    lostOf(title, 'away, and every pod is there', 'requests lost', askingZonal.since(from));

    const backFrom = Date.now();
    await cluster.command('zone', 'CLUSTER', 'zone-a', 'back');
    const first = await asking.answered((a) => isOf(0, a), backFrom);
    figure(title, 'back', 'first answer of the zone', ms([first.atMs - backFrom]));
    await asking.more(150);
    nothingLost(title, 'back', 'requests lost', asking.since(backFrom));
    lostOf(title, 'back, and every pod is there', 'requests lost', askingZonal.since(backFrom));
    // What a proxy is told of that Service does not change.
    expect(await slicesOfDb()).toEqual(unchanged);
  });
});
