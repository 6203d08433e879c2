/** A batch that is slow, and not dead: others write the same namespace's pods while its own write is held up. */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import { PodCache } from '#shared/pod-log/pod-cache.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { beginPodLog } from '#shared/store/namespaces.ts';
import type { Table } from '#shared/store/table.ts';
import { pod, service } from '../kube/objects.ts';
import { entry, ingestHub } from './hub.ts';

const hours = 3_600_000;

/** A namespace whose pod p is not ready, and a batch, held up before it writes, that says it is. */
async function heldUp({ before = async () => {} }: { readonly before?: (hub: Awaited<ReturnType<typeof ingestHub>>) => Promise<void> } = {}) {
  const hub = await ingestHub();
  await hub.emptyLists(1);
  await beginPodLog(hub.store, 'ns', hub.clock.now);
  await hub.ingest(hub.live('Pod', 10, entry('Pod', 10, pod('p', { ready: false }))));
  await before(hub);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const table: Table = {
    ...hub.table,
    async put(item, condition) {
      if (item.sk === 'p') {
        reached.resolve();
        await gate.promise;
      }
      return hub.table.put(item, condition);
    },
  };
  const body = encodeMessage(hub.live('Pod', 11, entry('Pod', 11, pod('p', { ready: true }))));
  const slow = ingestBatch({ ...hub.deps, table }, 'c', [{ messageId: 'slow', body }]);
  await reached.promise;
  let version = 100;
  return {
    hub,
    async overtake(batches: number): Promise<void> {
      for (; batches > 0; batches--) await hub.ingest(hub.live('Pod', ++version, entry('Pod', version, pod(`other-${version}`))));
    },
    async goOn(): Promise<void> {
      gate.resolve();
      expect(await slow).toEqual([]);
    },
    async seesReady(cache: PodCache): Promise<boolean> {
      return isPodReady((await cache.podsOf(hub.store, 'ns', { nowMs: hub.clock.now })).pods.get('p') as never);
    },
  };
}

it.each([1, 49, 50, 60, 250])('a batch that %i others overtake is seen by a worker that read the namespace whole meanwhile', async (others) => {
  const { overtake, goOn, seesReady } = await heldUp();
  await overtake(others);
  const cache = new PodCache();
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it.each([1, 60, 250])('a batch that %i others overtake is seen by a warm worker that followed the log meanwhile', async (others) => {
  const { overtake, goOn, seesReady } = await heldUp();
  const cache = new PodCache();
  for (let i = 0; i < others; i++) {
    await overtake(1);
    if (i % 20 === 0) expect(await seesReady(cache)).toBe(false);
  }
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it('a batch that one other overtakes is seen where the log before the two has expired', async () => {
  const { overtake, goOn, seesReady } = await heldUp({
    async before(hub) {
      hub.clock.now += 48 * hours;
      for (const item of hub.table.dump().filter((i) => i.pk.includes('PODLOG'))) await hub.table.delete(item);
    },
  });
  await overtake(1);
  const cache = new PodCache();
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it('the first batch of a namespace is seen though another overtakes it', async () => {
  const hub = await ingestHub();
  await hub.emptyLists(1);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const table: Table = {
    ...hub.table,
    async put(item, condition) {
      if (item.sk === 'p') {
        reached.resolve();
        await gate.promise;
      }
      return hub.table.put(item, condition);
    },
  };
  const body = encodeMessage(hub.live('Pod', 11, entry('Pod', 11, pod('p'))));
  const slow = ingestBatch({ ...hub.deps, table }, 'c', [{ messageId: 'slow', body }]);
  await reached.promise;
  await hub.ingest(hub.live('Pod', 12, entry('Pod', 12, pod('other'))));
  const cache = new PodCache();
  expect([...(await cache.podsOf(hub.store, 'ns', { nowMs: hub.clock.now })).pods.keys()]).toEqual(['other']);
  gate.resolve();
  await slow;
  expect([...(await cache.podsOf(hub.store, 'ns', { nowMs: hub.clock.now })).pods.keys()].sort()).toEqual(['other', 'p']);
});

it('a batch that was frozen for an hour is seen by a worker that took the log for complete meanwhile', async () => {
  const { hub, goOn, seesReady } = await heldUp();
  hub.clock.now += hours;
  const cache = new PodCache();
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it('a batch that is not overtaken takes one number, and one that is takes a second', async () => {
  const numbers = (hub: Awaited<ReturnType<typeof ingestHub>>) => hub.table.dump().find((i) => i.pk === 'c#NS')?.['p'];
  const { hub, overtake, goOn } = await heldUp();
  const before = numbers(hub) as number;
  await overtake(49);
  await goOn();
  expect(numbers(hub)).toBe(before + 49);
  const other = await heldUp();
  await other.overtake(50);
  await other.goOn();
  expect(numbers(other.hub)).toBe(before + 50 + 1);
});

it.each([
  { others: 49, generations: 1 },
  { others: 50, generations: 2 },
])('after $others others a batch announces its pods $generations times: a run for the first time may have read the log without them', async (row) => {
  const { hub, overtake, goOn } = await heldUp({
    before: async (started) => void (await started.ingest(started.live('Service', 10, entry('Service', 10, selecting)))),
  });
  await overtake(row.others);
  hub.woken();
  await goOn();
  const generations = hub.woken().map((m) => m.gen);
  expect(generations).toHaveLength(row.generations);
  expect(new Set(generations).size).toBe(row.generations);
});

const selecting = service();
