/** A Service of 50 pods is handed over to the hub and back, while its pods are updated. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { annotationSelector, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { ours, served, theirs } from '#test/cluster/opt-in/beside.ts';
import { type Clients, lost, makeClients, startClients } from './clients.ts';
import { figure, ms, printFigures } from './figures.ts';
import { type OneCluster, startOneCluster } from './one-cluster.ts';
import { deployment, namespaceOf, service } from './workload.ts';

const namespace = 'shop';
const replicas = 50;
const rounds = process.env['PACKETS'] === 'all' ? 5 : 1;

describe('a Service that opts in', () => {
  let cluster: OneCluster;
  let asking: Clients;
  let hasFailed = false;
  beforeAll(async () => {
    cluster = await startOneCluster('opt-in');
    const annotations = { [annotationSelector]: 'app=web' };
    await cluster.apply([namespaceOf(namespace), service({ namespace, annotations }), deployment({ namespace, replicas })]);
    const clients = await makeClients(cluster.nodes, cluster.controlPlane, namespace, 6);
    await updated();
    const address = (await cluster.api.get('Service', namespace, 'web'))?.spec?.clusterIP;
    asking = startClients(cluster.nodes, clients, { to: `http://${address}:80` });
    await asking.more(20);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    await asking?.stop();
    if (hasFailed) console.log([...(cluster?.lines.slice(-40) ?? []), ...(cluster?.nodes.said.slice(-60) ?? [])].join('\n'));
    await cluster?.stop();
    printFigures();
  });

  const updated = () => cluster.kubectl('rollout', 'status', 'deployment/web', '-n', namespace, '--timeout=120s');
  const restart = () => cluster.kubectl('rollout', 'restart', 'deployment/web', '-n', namespace);
  const select = (selector: { readonly app: string | null }) => cluster.api.patch('Service', namespace, 'web', { spec: { selector } } as never);
  const writtenBy = (manager: typeof optInManagedBy | typeof slicesManagedBy): Promise<void> =>
    cluster.observed.eventually(() => {
      const slices = cluster.observed.slices(namespace, 'web');
      const [now, former] = manager === optInManagedBy ? [ours(slices), theirs(slices)] : [theirs(slices), ours(slices)];
      expect(former, 'slices of the former writer').toEqual([]);
      expect(served(now).length).toBeGreaterThanOrEqual(replicas);
    }, 90_000);

  it.each([
    ['while its pods stay', false],
    ['amid a rolling update each time', true],
  ])('a Service is handed over and back %s, and loses no request', async (how, amidUpdates) => {
    const from = Date.now();
    const took: { readonly [manager: string]: number[] } = { [optInManagedBy]: [], [slicesManagedBy]: [] };
    for (let round = 0; round < rounds; round++) {
      for (const manager of [optInManagedBy, slicesManagedBy] as const) {
        if (amidUpdates) await restart();
        await select({ app: manager === optInManagedBy ? null : 'web' });
        const begun = Date.now();
        await writtenBy(manager);
        took[manager]?.push(Date.now() - begun);
        if (amidUpdates) await updated();
        await asking.more(30);
      }
    }
    const answers = asking.answers.filter((a) => a.atMs >= from);
    const note = (column: string, value: string): void => figure('Opt-in: hand-overs of a Service of 50 pods', how, column, value);
    note('hand-overs', String(rounds * 2));
    note('former slices deleted after, to the hub', ms(took[optInManagedBy] ?? []));
    note('and back', ms(took[slicesManagedBy] ?? []));
    note('requests lost', `${lost(answers).length} of ${answers.length}`);
    expect(lost(answers)).toEqual([]);
  });
});
