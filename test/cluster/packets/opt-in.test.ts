/** A Service of 50 pods is handed over to the hub and back, while its pods are updated. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { annotationSelector, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { ours, served, theirs } from '#test/cluster/opt-in/beside.ts';
import { type AskedCluster, startAskedCluster } from './asked-cluster.ts';
import { figure, ms, nothingLost, printFigures } from './figures.ts';
import { stopAfterwards } from './suite.ts';

const namespace = 'shop';
const replicas = 50;
const isLong = process.env['PACKETS'] === 'all';
afterAll(printFigures);

describe('a Service that opts in', () => {
  let cluster: AskedCluster['cluster'];
  let asking: AskedCluster['asking'];
  beforeAll(async () => {
    const annotations = { [annotationSelector]: 'app=web' };
    ({ cluster, asking } = await startAskedCluster('opt-in', { namespace, replicas, annotations }));
  });
  stopAfterwards(() => cluster);

  const select = (selector: { readonly app: string | null }) =>
    cluster.api.patch('Service', namespace, 'web', { spec: { selector } } as never);
  const writtenBy = (manager: typeof optInManagedBy | typeof slicesManagedBy): Promise<void> =>
    cluster.observed.eventually(() => {
      const slices = cluster.observed.slices(namespace, 'web');
      const [now, former] =
        manager === optInManagedBy ? [ours(slices), theirs(slices)] : [theirs(slices), ours(slices)];
      expect(former, 'slices of the former writer').toEqual([]);
      expect(served(now).length).toBeGreaterThanOrEqual(replicas);
    }, 90_000);

  it.each([
    { how: 'while its pods stay', amidUpdates: false, rounds: isLong ? 2 : 1 },
    { how: 'amid a rolling update each time', amidUpdates: true, rounds: isLong ? 3 : 1 },
  ])(
    'a Service is handed over and back $how, and loses no request',
    { timeout: 600_000 },
    async ({ how, amidUpdates, rounds }) => {
      const from = Date.now();
      const took: { readonly [manager: string]: number[] } = { [optInManagedBy]: [], [slicesManagedBy]: [] };
      for (let round = 0; round < rounds; round++) {
        for (const manager of [optInManagedBy, slicesManagedBy] as const) {
          if (amidUpdates) await cluster.restart(namespace);
          await select({ app: manager === optInManagedBy ? null : 'web' });
          const begun = Date.now();
          await writtenBy(manager);
          took[manager]?.push(Date.now() - begun);
          if (amidUpdates) await cluster.rolledOut(namespace);
          await asking.more(30);
        }
      }
      const title = 'Opt-in: hand-overs of a Service of 50 pods';
      figure(title, how, 'hand-overs', String(rounds * 2));
      figure(title, how, 'former slices deleted after, to the hub', ms(took[optInManagedBy] ?? []));
      figure(title, how, 'and back', ms(took[slicesManagedBy] ?? []));
      nothingLost(title, how, 'requests lost', asking.since(from));
    },
  );
});
