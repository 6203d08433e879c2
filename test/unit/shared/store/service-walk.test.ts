import { expect, it } from 'vitest';
import { resync } from '#functions/sweep/resync.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { maxProjectionSize } from '#shared/queue/messages.ts';
import { type WalkPosition, walkServices } from '#shared/store/inputs/service-walk.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { namespaceKey, objectKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { addStep } from '#shared/workqueue/add-all.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

const largest = 'x'.repeat(maxProjectionSize.Service);

/** A cluster with so many Services in each namespace. `read`: bytes of all answers that had Services. */
async function clusterOf(namespaces: { readonly [name: string]: number }, text: string) {
  const memory = memoryTable();
  await registerCluster(memory, { id: 'c', mode: 'active' }, 0);
  for (const [namespace, services] of Object.entries(namespaces)) {
    await memory.put({ ...namespaceKey('c', namespace), n: 1 });
    for (let i = 0; i < services; i++)
      await memory.put({ ...objectKey('c', 'Service', namespace, `s${1000 + i}`), v: '00000102', o: text });
  }
  const read = { bytes: 0, names: 0 };
  const query: Table['query'] = async (pk, range) => {
    const items = await memory.query(pk, range);
    if (pk.includes('#SVC#')) {
      read.bytes += items.reduce((sum, item) => sum + itemSize(item), 0);
      read.names += items.length;
    }
    return items;
  };
  const table: Table = { ...memory, query };
  return { table, read, cluster: (await readCluster(memory, 'c')) as ClusterRecord };
}

const eight = (services: number) =>
  Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`tenant-${i}`, services]));

it('a step after first lists or a switch reads names, however large the Services are', async () => {
  const { table, read, cluster } = await clusterOf(eight(500), largest);
  await addStep(sweepDeps({ table }), cluster, undefined);
  expect(read.bytes).toBeLessThan(1 << 20);
});

it('the first minute of a resync after a pause of days reads names, however large the Services are', async () => {
  const { table, read, cluster } = await clusterOf(eight(500), largest);
  let now = 1_000;
  const deps = sweepDeps({ table, now: () => now });
  await resync(deps, cluster);
  now += 3 * 24 * 3_600_000;
  await resync(deps, cluster);
  expect(read.names).toBe(4_000);
  expect(read.bytes).toBeLessThan(1 << 20);
});

it.each([1, 3, 8, 50, 1000])(
  'steps of %s services pass each service once in the order of the keys, and read few names twice',
  async (services) => {
    const sizes = { a: 3, b: 0, c: 40, d: 1, e: 0, f: 2, g: 7, h: 1, i: 30, j: 1 };
    const { table, read } = await clusterOf(sizes, '{}');
    const walked: string[] = [];
    let place: WalkPosition | undefined;
    let steps = 0;
    do {
      const step = await walkServices({ table, cluster: 'c' }, place, { services, entries: 100 });
      expect(step.services.length).toBeLessThanOrEqual(services);
      walked.push(...step.services.map((s) => `${s.namespace}/${s.name}`));
      place = step.place;
      steps++;
    } while (place);
    const all = Object.entries(sizes).flatMap(([namespace, count]) =>
      Array.from({ length: count }, (_, i) => `${namespace}/s${1000 + i}`),
    );
    expect(walked).toEqual(all);
    expect(read.names).toBeLessThanOrEqual(all.length + steps * (services + 8));
  },
);

it('a walk tells deleted services from existing ones', async () => {
  const { table } = await clusterOf({ a: 1 }, '{}');
  await table.put({ ...objectKey('c', 'Service', 'a', 'gone'), v: '00000103', at: 5 });
  const { services } = await walkServices({ table, cluster: 'c' }, undefined, { services: 10, entries: 10 });
  expect(services).toEqual([
    { namespace: 'a', name: 'gone', isAlive: false },
    { namespace: 'a', name: 's1000', isAlive: true },
  ]);
});
