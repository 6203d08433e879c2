/** A message that takes longer than a worker lives is applied in several runs. */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { readObjects } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const timeoutMs = 60_000;
const pods = Array.from({ length: 300 }, (_, i) => entry('Pod', 6, pod(`p${String(i).padStart(3, '0')}`)));

/** A table so slow that a large list takes several runs. */
const slowed = (table: Table, clock: { now: number }, ms: number): Table => ({
  ...table,
  async put(item, condition) {
    clock.now += ms;
    return table.put(item, condition);
  },
});

/** Runs until the events queue is empty, each with a worker's time; how long the longest took, in ms. */
async function drain(
  hub: IngestHub,
  deps: IngestHub['deps'],
): Promise<{ readonly runs: number; readonly maxMs: number }> {
  let maxMs = 0;
  for (let runs = 0; ; runs++) {
    const records = hub.queues.events
      .waiting()
      .map((m, i) => ({ messageId: String(i), sentAtMs: m.sentAtMs, body: m.body }));
    if (records.length === 0) return { runs, maxMs };
    hub.queues.events.purge();
    const startedAt = hub.clock.now;
    expect(await ingestBatch(deps, 'c', records, startedAt + timeoutMs)).toEqual([]);
    maxMs = Math.max(maxMs, hub.clock.now - startedAt);
    expect(runs).toBeLessThan(50);
  }
}

it('a first list that takes longer than a worker lives is applied in several runs, and syncs may begin', async () => {
  const hub = await ingestHub();
  const deps = { ...hub.deps, table: slowed(hub.table, hub.clock, 500) };
  const others = { Service: [entry('Service', 5, service())], Node: [], Endpoints: [], EndpointSlice: [] };
  for (const [kind, entries] of Object.entries({ ...others, Pod: pods })) {
    await hub.queues.events.send([
      { body: JSON.stringify(hub.list(kind as 'Pod', 10, ...(entries as typeof pods))) },
    ]);
  }
  const { runs, maxMs } = await drain(hub, deps);
  expect(runs).toBeGreaterThan(4);
  expect(maxMs).toBeLessThan(timeoutMs * 0.75);
  const held = await readObjects(hub.store, 'Pod', 'ns');
  expect(held).toHaveLength(pods.length);
  expect(held.filter((r) => r.unnotifiedLabels)).toEqual([]);
  expect(hub.woken().some((m) => m.name === 'svc')).toBe(true);
  const meta = await readCluster(hub.table, 'c');
  expect(meta && hasSynced(meta)).toBe(true);
});

it('a message that cannot be sent again becomes visible later', async () => {
  const hub = await ingestHub();
  const deps = { ...hub.deps, table: slowed(hub.table, hub.clock, 500) };
  hub.queues.events.send = async () => {
    throw new Error('the queue cannot be reached');
  };
  const records = [
    { messageId: 'm', sentAtMs: hub.clock.now, body: JSON.stringify(hub.list('Pod', 10, ...pods)) },
  ];
  expect(await ingestBatch(deps, 'c', records, hub.clock.now + timeoutMs)).toEqual(['m']);
});

it('a message without progress, because reading alone takes too long, is quarantined in the end', async () => {
  const hub = await ingestHub();
  const query: Table['query'] = (...args) => {
    hub.clock.now += timeoutMs;
    return hub.table.query(...args);
  };
  const deps = { ...hub.deps, table: { ...hub.table, query } };
  await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, pod('p'))));
  await hub.queues.events.send([{ body: JSON.stringify(hub.list('Pod', 10, ...pods)) }]);
  for (let runs = 1; hub.queues.events.waiting().length > 0; runs++) {
    const records = hub.queues.events
      .waiting()
      .map((m, i) => ({ messageId: String(i), sentAtMs: m.sentAtMs, body: m.body }));
    hub.queues.events.purge();
    expect(await ingestBatch(deps, 'c', records, hub.clock.now + timeoutMs)).toEqual([]);
    expect(runs).toBeLessThanOrEqual(50);
  }
  expect(hub.queues.quarantine.waiting().map((m) => JSON.parse(m.body).reason)).toEqual([
    'not applied within 50 runs',
  ]);
});
