/**
 * The key range of a page may have any number of objects of any size: a tenant's that were deleted while no
 * relay watched are all in the range of the page that no longer has them. Ingest reads the whole records of a
 * small range only.
 */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { indexNamespace } from '#shared/store/inputs/namespaces.ts';
import { isAlive, readObjects } from '#shared/store/inputs/objects.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { objectKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const spaces = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `tenant-${i}`);

/** Stores so many records in each namespace. */
async function fill(
  { table, store }: IngestHub,
  kind: 'Service' | 'Pod',
  namespaces: readonly string[],
  { each, text }: { each: number; text: string },
) {
  for (const namespace of namespaces) {
    await indexNamespace(store, namespace);
    for (let i = 0; i < each; i++)
      await table.put({ ...objectKey('c', kind, namespace, `o${i}`), v: versionOf(1, '5'), o: text });
  }
}

/** Counts the bytes of all answers to queries. */
function counted(hub: IngestHub): { bytes: number } {
  const read = { bytes: 0 };
  const { query } = { ...hub.table };
  const counting: Table['query'] = async (...args) => {
    const items = await query(...args);
    read.bytes += items.reduce((sum, item) => sum + itemSize(item), 0);
    return items;
  };
  Object.assign(hub.table, { query: counting });
  return read;
}

const largeService = JSON.stringify(['u', 'x'.repeat(240 * 1024)]);

it.each([
  ['Service', 4, 40, largeService],
  ['Pod', 4, 200, entry('Pod', 5, pod('p', { labels: { app: 'x'.repeat(50_000) } })).projection as string],
] as const)(
  'a page without %ss, after a tenant’s were deleted while no relay watched, reads names',
  async (kind, namespaces, each, text) => {
    const hub = await ingestHub();
    await fill(hub, kind, spaces(namespaces), { each, text });
    const read = counted(hub);
    let messages: readonly (object | string)[] = [await hub.confirmed(hub.list(kind, 10))];
    for (let runs = 0; messages.length > 0; runs++) {
      expect(runs).toBeLessThan(10);
      expect(await hub.ingest(...messages)).toEqual([]);
      messages = hub.queues.events.waiting().map((m) => m.body);
      hub.queues.events.purge();
    }
    expect(read.bytes).toBeLessThan(1 << 20);
    for (const namespace of spaces(namespaces))
      expect((await readObjects(hub.store, kind, namespace)).filter(isAlive)).toEqual([]);
  },
);

it('a page of a large key range changes the same as a page of a small one', async () => {
  const outcome = async (rangeBytes: number) => {
    const hub = await ingestHub();
    const deps = {
      ...hub.deps,
      limits: { ...hub.deps.limits, ingest: { ...hub.deps.limits.ingest, rangeBytes } },
    };
    const ingest = async (...messages: readonly object[]) =>
      ingestBatch(
        deps,
        'c',
        messages.map((m, i) => ({ messageId: String(i), body: JSON.stringify(m), sentAtMs: hub.clock.now })),
      );
    await ingest(
      hub.live('Service', 5, entry('Service', 5, service({ selector: { app: 'a' } }))),
      hub.live(
        'Pod',
        5,
        entry('Pod', 4, pod('kept')),
        entry('Pod', 5, pod('moved')),
        entry('Pod', 5, pod('gone', { labels: { app: 'a' } })),
      ),
      hub.live('Pod', 6, entry('Pod', 6, undefined, 'dead')),
    );
    hub.woken();
    hub.clock.now += 60 * 60_000;
    // An earlier batch has written `owing`, and died before it woke its services.
    await hub.table.update(objectKey('c', 'Pod', 'ns', 'owing'), {
      set: {
        v: versionOf(1, '30'),
        o: entry('Pod', 30, pod('owing')).projection as string,
        unnotified: JSON.stringify([{ app: 'a' }]),
      },
    });
    const moved = pod('moved', { labels: { app: 'b' } });
    expect(
      await ingest(
        hub.list(
          'Pod',
          20,
          entry('Pod', 4, pod('kept')),
          entry('Pod', 7, moved),
          entry('Pod', 8, pod('new')),
        ),
      ),
    ).toEqual([]);
    return {
      woken: hub.woken().map((w) => w.name),
      records: hub.table.dump().filter(({ pk }) => pk === 'c#POD#ns'),
    };
  };
  const small = await outcome(16 << 20);
  expect(small.woken).toEqual(['svc']);
  expect(small.records.map((r) => r.sk)).toEqual(['gone', 'kept', 'moved', 'new', 'owing']);
  expect(await outcome(0)).toEqual(small);
});

it('a page is continued by the next run if an earlier one has written many Pods with large labels, and died before it woke their services', async () => {
  const hub = await ingestHub();
  await indexNamespace(hub.store, 'tenant');
  const unnotified = JSON.stringify([{ app: 'x'.repeat(50_000) }]);
  for (let i = 0; i < 1_000; i++)
    await hub.table.put({
      ...objectKey('c', 'Pod', 'tenant', `o${i}`),
      v: versionOf(1, '30'),
      at: hub.clock.now,
      unnotified,
    });
  const owing = async () =>
    (await readObjects(hub.store, 'Pod', 'tenant')).filter((r) => r.unnotifiedLabels).length;
  expect(await hub.ingest(hub.list('Pod', 20))).toEqual([]);
  expect(await owing()).toBeGreaterThan(300);
  expect(await hub.ingest(...hub.queues.events.waiting().map((m) => m.body))).toEqual([]);
  expect(await owing()).toBe(0);
});
