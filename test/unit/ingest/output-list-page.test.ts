/** Parts of lists of Endpoints and slices in namespaces of many services. */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { slicesManagedBy } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage, OutputEntry } from '#shared/queue/messages.ts';
import { indexNamespace, raiseSelectorsVersion } from '#shared/store/inputs/namespaces.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { saveOutput } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { service } from '#test/unit/shared/kube/objects.ts';
import { type IngestHub, ingestHub } from './hub.ts';

const runMs = 30_000;

async function hubWith(services: readonly string[], namespace = 'ns'): Promise<IngestHub> {
  const hub = await ingestHub();
  await addServices(hub, services, namespace);
  return hub;
}

async function addServices(hub: IngestHub, services: readonly string[], namespace: string): Promise<void> {
  await indexNamespace(hub.store, namespace);
  await raiseSelectorsVersion(hub.store, namespace);
  const projection = encodeProjection('Service', service());
  for (const name of services) {
    await putObject(
      hub.store,
      'Service',
      {
        namespace,
        name,
        version: versionOf(1, '5'),
        projection,
        unnotifiedLabels: undefined,
        deletedAtMs: 0,
      },
      undefined,
    );
  }
}

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `s${String(i).padStart(5, '0')}`);

/** Saved at version 7 as what sync has written; and the entry of a list that shows it unchanged. */
async function save(hub: IngestHub, kind: OutputKind, service: string, name: string): Promise<OutputEntry> {
  const uid = `uid-${name}`;
  const object = { kind, metadata: { name, namespace: 'ns', uid, labels: {} } };
  await saveOutput(
    hub.table,
    { cluster: 'c', namespace: 'ns', name: service },
    { kind, name, uid, version: versionOf(1, '7'), generation: 1, object },
  );
  return {
    namespace: 'ns',
    name,
    resourceVersion: '7',
    uid,
    generation: 1,
    service,
    managedBy: slicesManagedBy,
  };
}

/**
 * A table of which each call takes a worker's processor for 1.2 ms, and reading an item of a query 0.1 ms
 * (measured with the SDK at 0.58 vCPU).
 */
function timed(hub: IngestHub) {
  const calls = { get: 0, query: 0 };
  const table: Table = {
    ...hub.table,
    async get(key) {
      calls.get++;
      hub.clock.now += 1.2;
      return hub.table.get(key);
    },
    async query(pk, range) {
      calls.query++;
      const items = await hub.table.query(pk, range);
      hub.clock.now += 1.2 + 0.1 * items.length;
      return items;
    },
  };
  return { calls, table };
}

/** Runs of a worker until the events queue is empty, in batches of ten. */
async function drain(hub: IngestHub, table: Table): Promise<number> {
  for (let runs = 0; ; runs++) {
    const records = hub.queues.events.receive(10);
    if (records.length === 0) return runs;
    const failed = await ingestBatch({ ...hub.deps, table }, 'c', records, hub.clock.now + runMs);
    for (const r of records) if (!failed.includes(r.messageId)) hub.queues.events.delete(r.receiptHandle);
    expect(runs).toBeLessThan(200);
  }
}

const send = (hub: IngestHub, ...parts: readonly object[]) =>
  hub.queues.events.send(parts.map((p) => ({ body: encodeMessage(p) })));
const synced = async (hub: IngestHub) => (await readCluster(hub.table, 'c'))?.lists.firstListOf;
/** Returns the entries for a second look by kind, with their deletion or former service. */
const doubted = (hub: IngestHub): readonly OutputEntry[] =>
  hub.queues.events.waiting().flatMap((m) => {
    const message = decodeMessage(m.body) as EventsMessage;
    return message.type === 'live' ? (message.entries as readonly OutputEntry[]) : [];
  });

it('the first lists of Endpoints and slices of a namespace with 20,000 services are applied, both parts in one batch', async () => {
  const hub = await hubWith(numbered(20_000));
  await send(hub, hub.list('Endpoints', 50), hub.list('EndpointSlice', 50));
  await drain(hub, timed(hub).table);
  expect(await synced(hub)).toMatchObject({ Endpoints: 1, EndpointSlice: 1 });
  expect(hub.queues.quarantine.waiting()).toEqual([]);
});

it('a part that takes several runs continues after the last step of the former run', async () => {
  const hub = await hubWith(numbered(60));
  const entries = await Promise.all(numbered(60).map((s) => save(hub, 'Endpoints', s, s)));
  const table: Table = {
    ...hub.table,
    async get(key) {
      hub.clock.now += 250;
      return hub.table.get(key);
    },
  };
  await hub.queues.events.send([{ body: encodeMessage(hub.list('Endpoints', 20, ...entries)) }]);
  const runs = await drain(hub, table);
  expect(runs).toBeGreaterThan(1);
  expect(runs).toBeLessThan(10);
  expect(hub.queues.quarantine.waiting()).toEqual([]);
  expect((await readCluster(hub.table, 'c'))?.lists.firstListOf.Endpoints).toBe(1);
});

it('the changes in such a part are notified by any of its runs', async () => {
  const names = numbered(20_000);
  const hub = await hubWith(names);
  await hub.emptyLists(6);
  for (const svc of [names[0], names[9_999], names[19_999]] as string[])
    await save(hub, 'EndpointSlice', svc, `${svc}-x`);
  await send(hub, hub.list('EndpointSlice', 50));
  hub.clock.now += 1;
  const runs = await drain(hub, timed(hub).table);
  expect(runs).toBeGreaterThan(1);
  hub.clock.now += 60_000;
  await drain(hub, hub.table);
  expect(hub.woken().map((m) => m.name)).toEqual([names[0], names[9_999], names[19_999]]);
});

it.each(['Endpoints', 'EndpointSlice'] as const)(
  'a list of %s in pages reads the outputs of each service once, and not for every page',
  async (kind) => {
    const names = numbered(2_000);
    const hub = await hubWith(names);
    const entries = await Promise.all(
      names.map((svc) => save(hub, kind, svc, kind === 'Endpoints' ? svc : `${svc}-x`)),
    );
    const { calls, table } = timed(hub);
    const pages = Array.from({ length: 10 }, (_, i) => entries.slice(i * 200, (i + 1) * 200));
    const key = (e: OutputEntry | undefined) => (e ? `${e.namespace}/${e.name}` : '');
    await send(
      hub,
      ...pages.map((page, i) => {
        const { isLast: _, ...list } = hub.list(kind, 50, ...page);
        const isLast = i === pages.length - 1;
        return {
          ...list,
          listId: 'l',
          partNumber: i,
          ...(isLast && { isLast: true }),
          from: key(pages[i - 1]?.at(-1)),
          to: isLast ? '' : key(page.at(-1)),
        };
      }),
    );
    await drain(hub, table);
    expect((await synced(hub))?.[kind]).toBe(1);
    expect(doubted(hub)).toEqual([]);
    // For each entry its saved body and, for Endpoints, the record of their service; and for each service its
    // work item and one call.
    expect(calls.get + calls.query).toBeLessThan(
      (kind === 'Endpoints' ? 2 : 1) * entries.length + 2.1 * names.length,
    );
  },
);

it('the work item of a service is read once for a page, also if nothing is saved of its outputs', async () => {
  const names = numbered(20);
  const hub = await hubWith(names);
  const entries = names.map(
    (svc): OutputEntry => ({ namespace: 'ns', name: svc, resourceVersion: '7', uid: svc, service: svc }),
  );
  let reads = 0;
  const table: Table = {
    ...hub.table,
    async get(key) {
      if (key.pk.includes('#WORK#')) reads++;
      return hub.table.get(key);
    },
  };
  await send(hub, hub.list('Endpoints', 50, ...entries));
  await drain(hub, table);
  expect([doubted(hub), hub.woken()]).toEqual([[], []]);
  expect(reads).toBe(names.length);
});

it.each([
  ['whose service has a shorter name than a page’s end', 'web', 'web-api-bbbbb', 'web-bcdfg'],
  ['whose service comes before the page', 'a', 'a-b-aaaaa', 'a-zzzzz'],
  ['whose service is the key that the page begins after', 'web-aaaaa', 'web-aaaaa', 'web-aaaaa-bcdfg'],
  [
    'that has only the beginning of a long name',
    `${'l'.repeat(58)}zzzzz`,
    `${'l'.repeat(58)}aaaaa`,
    `${'l'.repeat(58)}bcdfg`,
  ],
  ['that a person has named', 'zebra', 'a-page', 'handmade'],
])('a page finds a slice gone %s', async (_what, service, from, slice) => {
  const hub = await hubWith([service]);
  await save(hub, 'EndpointSlice', service, slice);
  await hub.ingest({ ...hub.list('EndpointSlice', 20), from: `ns/${from}`, to: `ns/${slice}` });
  expect(doubted(hub)).toMatchObject([{ name: slice, service, deleted: true }]);
});

it('a page finds that a slice was given to a service whose name is another', async () => {
  const hub = await hubWith(['first', 'second']);
  const entry = await save(hub, 'EndpointSlice', 'first', 'first-bcdfg');
  await hub.ingest({
    ...hub.list('EndpointSlice', 20, { ...entry, resourceVersion: '12', service: 'second' }),
    from: 'ns/first-a',
    to: 'ns/first-z',
  });
  expect(doubted(hub)).toContainEqual(
    expect.objectContaining({ name: 'first-bcdfg', service: 'second', formerService: 'first' }),
  );
});

it('a part goes on in the next namespace where its time was up, also if one of its namespaces has gone meanwhile', async () => {
  const hub = await hubWith(['a'], 'ns-1');
  await addServices(hub, ['b'], 'ns-3');
  const queried: string[] = [];
  const table: Table = {
    ...hub.table,
    query(pk, range) {
      queried.push(pk);
      return hub.table.query(pk, range);
    },
  };
  const part = { ...hub.list('EndpointSlice', 20), progress: { entries: 0, services: 'ns-2/z' } };
  await ingestBatch({ ...hub.deps, table }, 'c', [
    { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(part) },
  ]);
  expect(queried).toContain('c#OUT#ns-3/b');
  expect(queried).not.toContain('c#OUT#ns-1/a');
});
