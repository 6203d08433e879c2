/**
 * Clusters that make and delete namespaces all the time leave thousands in the index, which only grows: lists
 * must not read them for ever.
 */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { readObject, readObjects } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const dead = 200;
const hour = 3_600_000;

/**
 * A hub on which a namespace is left that lives and many that have gone, each with a service and a pod in its
 * time.
 */
async function hubWithDeadNamespaces(): Promise<IngestHub> {
  const hub = await ingestHub();
  const names = Array.from({ length: dead }, (_, i) => `preview-${i}`);
  await hub.ingest(
    hub.live(
      'Service',
      5,
      entry('Service', 5, service()),
      ...names.map((namespace) => ({ ...entry('Service', 5, service()), namespace })),
    ),
  );
  await hub.ingest(
    hub.live(
      'Pod',
      6,
      entry('Pod', 6, pod('p')),
      ...names.map((ns) => ({ ...entry('Pod', 6, pod('p')), ns })),
    ),
  );
  // The first list finds the objects deleted, the second purges their records, and the third finds an empty
  // namespace. From then on the writes of pods are counted, and the fourth list finds no writes.
  for (const asOf of [10, 20, 30, 35]) {
    await lists(hub, asOf);
    hub.clock.now += hour;
  }
  return hub;
}

const lists = async (hub: IngestHub, asOf: number) =>
  hub.ingest(
    await hub.confirmed(hub.list('Service', asOf, entry('Service', 5, service()))),
    await hub.confirmed(hub.list('Pod', asOf, entry('Pod', 6, pod('p')))),
    hub.list('EndpointSlice', asOf),
  );

/** How often a partition of objects is read whole during it. */
async function queriesDuring(
  hub: IngestHub,
  act: (deps: IngestHub['deps']) => Promise<unknown>,
): Promise<number> {
  let queries = 0;
  const table: Table = {
    ...hub.table,
    query(...args) {
      queries++;
      return hub.table.query(...args);
    },
  };
  await act({ ...hub.deps, table });
  return queries;
}

it('a list reads namespaces with content, and not those that were found empty', async () => {
  const hub = await hubWithDeadNamespaces();
  expect(await readObjects(hub.store, 'Pod', 'preview-7')).toEqual([]);
  const parts = [
    hub.list('Service', 40, entry('Service', 5, service())),
    hub.list('Pod', 40, entry('Pod', 6, pod('p'))),
    hub.list('Endpoints', 40),
  ];
  const records = parts.map((part, i) => ({
    messageId: `m${i}`,
    sentAtMs: hub.clock.now,
    body: encodeMessage(part),
  }));
  expect(await queriesDuring(hub, (deps) => ingestBatch(deps, 'c', records))).toBeLessThan(20);
});

it('a namespace with new content is read again: unlisted objects are deleted', async () => {
  const hub = await hubWithDeadNamespaces();
  const back = { ...entry('Pod', 41, pod('again')), namespace: 'preview-7' };
  const served = { ...entry('Service', 41, service()), namespace: 'preview-8' };
  await hub.ingest(hub.live('Pod', 41, back), hub.live('Service', 41, served));
  await lists(hub, 50);
  expect(await readObject(hub.store, 'Pod', 'preview-7', 'again')).toMatchObject({ projection: undefined });
  expect(await readObject(hub.store, 'Service', 'preview-8', 'svc')).toMatchObject({ projection: undefined });
});

it('pods that are being written while a list reads are not taken for none', async () => {
  const hub = await hubWithDeadNamespaces();
  // Somebody has taken a number, and the list comes before the pod is there.
  let held = true;
  const table: Table = {
    ...hub.table,
    async put(item, condition) {
      if (held && item.sk === 'late') {
        held = false;
        await lists(hub, 60);
      }
      return hub.table.put(item, condition);
    },
  };
  const late = { ...entry('Pod', 61, pod('late')), namespace: 'preview-9' };
  await ingestBatch({ ...hub.deps, table }, 'c', [
    { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(hub.live('Pod', 61, late)) },
  ]);
  expect(held).toBe(false);
  expect((await readObject(hub.store, 'Pod', 'preview-9', 'late'))?.projection).toBeDefined();
  await lists(hub, 70);
  expect(await readObject(hub.store, 'Pod', 'preview-9', 'late')).toMatchObject({ projection: undefined });
});
