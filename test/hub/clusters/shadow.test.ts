/** Shadow mode bounds the differences that it keeps, and reports a service that it cannot compare. */
import { expect, it } from 'vitest';
import { compareWithCluster } from '#functions/sync/controllers/shadow-compare.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { countDifferences, readDifference } from '#shared/store/outputs/shadow-record.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

it('a hundred differences are kept of a service that differs in everything, and how many there are', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(200)], { mode: 'shadow' });
  await pass(60);
  const difference = await readDifference(world.table, { cluster, namespace: 'default', name: 'svc' });
  const shown = JSON.parse(difference?.text ?? '[]') as readonly string[];
  expect(difference?.confirmed).toBe(true);
  expect(shown).toHaveLength(101);
  // Each pod in Endpoints and in a slice, and the labels of both.
  expect(shown.at(-1)).toBe('and 302 more');
});

it('a service with 300 ports and 100 pods counts, and keeps the differences that fit into an item', async () => {
  const ports = Array.from({ length: 300 }, (_, i) => ({
    name: `rtp-${i}`,
    port: 10_000 + i,
    targetPort: 10_000 + i,
    protocol: 'UDP',
  }));
  const { world, pass } = await smallCluster([aService({ ports }), ...pods(100)], { mode: 'shadow' });
  await pass(120);
  const key = { cluster, namespace: 'default', kind: 'service', name: 'svc' } as const;
  const difference = await readDifference(world.table, key);
  expect(difference?.confirmed).toBe(true);
  expect(Buffer.byteLength(difference?.text ?? '')).toBeLessThan(110 * 1024);
  expect(await countDifferences(world.table, cluster)).toBe(1);
  expect(isClean(await readWork(world.table, key))).toBe(true);
});

it('a service that cannot be compared is a difference as well', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)], { mode: 'shadow' });
  await pass(8);
  const key = { cluster, namespace: 'default', name: 'svc' };
  const meta = await readCluster(world.table, cluster);
  const writers = writersFor(aService() as never, meta as never);
  const service = { ...aService(), metadata: undefined };
  const inputs = { service, writers, pods: [{}], nodes: new Map(), outputs: [], hints: undefined };
  const log = { info() {}, warn() {}, error() {}, with: () => log };
  const deps = { table: world.table, now: () => world.now, random: () => 0, log, limits: defaultLimits };
  const compared = await compareWithCluster(deps as never, meta as never, key, inputs as never);
  expect(compared).toMatchObject({ kind: 'requeued', reason: 'difference to be confirmed' });
  expect((await readDifference(world.table, key))?.text).toContain('cannot be compared: TypeError');
});
