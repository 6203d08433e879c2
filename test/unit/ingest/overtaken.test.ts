/** A batch that is slow, and not dead: others write the same namespace's pods while its own write is delayed. */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { podLogDefaults } from '#shared/contract/ingest-limits.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import { NamespacePods } from '#shared/pods/namespace-pods.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { beginPodLog } from '#shared/store/namespaces.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { pod, service } from '../kube/objects.ts';
import { entry, ingestHub } from './hub.ts';

const hours = 3_600_000;
const worker = () => new NamespacePods({ ...podLogDefaults, maxUnlogged: 0 });

/** A namespace whose pod p is not ready, and a batch, delayed before one of its puts, for which it is. */
async function delayed(before: (item: Item) => boolean, { isLogged = true } = {}) {
  const hub = await ingestHub();
  await hub.emptyLists(1);
  if (isLogged) await beginPodLog(hub.store, 'ns');
  await hub.ingest(hub.live('Service', 9, entry('Service', 9, service())), hub.live('Pod', 10, entry('Pod', 10, pod('p', { ready: false }))));
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const table: Table = {
    ...hub.table,
    async put(item, condition) {
      if (before(item)) {
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
  const seesReady = async (cache: NamespacePods): Promise<boolean> => {
    const { all } = await cache.viewOf(hub.store, 'ns', { nowMs: hub.clock.now });
    return all.some((p) => p.metadata.name === 'p' && isPodReady(p));
  };
  return {
    hub,
    seesReady,
    /** A worker that caches the namespace. */
    async warm(): Promise<NamespacePods> {
      const cache = worker();
      for (let read = 0; read < 2; read++) await seesReady(cache);
      return cache;
    },
    async overtake(batches: number): Promise<void> {
      for (; batches > 0; batches--) await hub.ingest(hub.live('Pod', ++version, entry('Pod', version, pod(`other-${version}`))));
    },
    async goOn(): Promise<void> {
      gate.resolve();
      expect(await slow).toEqual([]);
    },
  };
}

const ofPod = (item: Item): boolean => item.pk === 'c#POD#ns' && item.sk === 'p';
const ofEntry = (item: Item): boolean => item.pk === 'c#PODLOG#ns';

it.each([0, 1, 60, 250])(
  'a batch whose pod is written after those of %i others is seen by a worker that has cached the namespace meanwhile',
  async (others) => {
    const { overtake, goOn, seesReady, warm } = await delayed(ofPod);
    await overtake(others);
    const cache = await warm();
    expect(await seesReady(cache)).toBe(false);
    await goOn();
    expect(await seesReady(cache)).toBe(true);
  },
);

it.each([0, 1, 60, 250])(
  'a batch that %i others overtake before its entry is seen by a worker that has cached the namespace meanwhile',
  async (others) => {
    const { overtake, goOn, seesReady, warm } = await delayed(ofEntry);
    await overtake(others);
    const cache = await warm();
    expect(await seesReady(cache)).toBe(true);
    await goOn();
    expect(await seesReady(cache)).toBe(true);
  },
);

it.each([1, 60, 250])('a batch that %i others overtake is seen by a warm worker that followed the log meanwhile', async (others) => {
  const { overtake, goOn, seesReady, warm } = await delayed(ofPod);
  const cache = await warm();
  for (let i = 0; i < others; i++) {
    await overtake(1);
    if (i % 20 === 0) expect(await seesReady(cache)).toBe(false);
  }
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it('a batch that writes its pod before the log is begun is seen by the worker that begins it', async () => {
  const { goOn, seesReady } = await delayed(ofPod, { isLogged: false });
  const cache = worker();
  expect(await seesReady(cache)).toBe(false);
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it('a batch that was frozen for an hour is seen by a warm worker', async () => {
  const { hub, goOn, seesReady, warm } = await delayed(ofPod);
  const cache = await warm();
  hub.clock.now += hours;
  expect(await seesReady(cache)).toBe(false);
  await goOn();
  expect(await seesReady(cache)).toBe(true);
});

it('a batch takes one number, puts one entry and announces its pods once, however many others overtake it', async () => {
  const { hub, overtake, goOn } = await delayed(ofPod);
  const number = () => hub.table.dump().find((i) => i.pk === 'c#NS')?.['p'] as number;
  const before = number();
  await overtake(60);
  hub.woken();
  await goOn();
  expect(number()).toBe(before + 61);
  expect(hub.woken()).toHaveLength(1);
});
