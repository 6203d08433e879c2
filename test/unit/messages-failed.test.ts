/** Lambda counts no error when only some messages of a batch come back: the stages count those themselves. */

import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { syncBatch } from '#functions/sync/wake-up-batch.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { syncDeps } from '#test/support/stage-deps.ts';
import { entry, ingestHub } from './ingest/hub.ts';
import { pod, service } from './shared/kube/objects.ts';

const refusing = (table: Table, call: 'put' | 'update'): Table => ({
  ...table,
  [call]: () => Promise.reject(new Error('the table refuses')),
});

it('MessagesFailed counts messages that ingest could not apply', async () => {
  const hub = await ingestHub();
  const bodies = [
    hub.live('Pod', 6, entry('Pod', 6, pod('p'))),
    hub.live('Pod', 7, entry('Pod', 7, pod('q'))),
  ].map((m) => encodeMessage(m));
  const records = bodies.map((body, i) => ({ messageId: `m${i}`, sentAtMs: hub.clock.now, body }));
  expect(await ingestBatch({ ...hub.deps, table: refusing(hub.table, 'put') }, 'c', records)).toEqual([
    'm0',
    'm1',
  ]);
  expect(hub.metrics.get('MessagesFailed')).toBe(2);
});

it('the notifications of a message that failed half-way are sent, with any result of the rest', async () => {
  const hub = await ingestHub();
  await hub.ingest(hub.live('Service', 4, entry('Service', 4, service())));
  hub.woken();
  const put: Table['put'] = (item, condition) =>
    item.sk === 'refused' ? Promise.reject(new Error('the table refuses')) : hub.table.put(item, condition);
  const message = hub.live('Pod', 6, entry('Pod', 6, pod('taken')), entry('Pod', 6, pod('refused')));
  const record = { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(message) };
  expect(await ingestBatch({ ...hub.deps, table: { ...hub.table, put } }, 'c', [record])).toEqual(['m']);
  expect((await readObject(hub.store, 'Pod', 'ns', 'taken'))?.projection).toBeDefined();
  expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
});

it('MessagesFailed counts messages of an unregistered cluster', async () => {
  const hub = await ingestHub();
  expect(
    await ingestBatch(hub.deps, 'unknown', [{ messageId: 'm', sentAtMs: hub.clock.now, body: '{}' }]),
  ).toEqual(['m']);
  expect(hub.metrics.get('MessagesFailed')).toBe(1);
});

it('MessagesFailed counts all messages of a batch for which ingest cannot ask the table', async () => {
  const hub = await ingestHub();
  const table = { ...hub.table, get: () => Promise.reject(new Error('the table refuses')) };
  expect(
    await ingestBatch({ ...hub.deps, table }, 'c', [{ messageId: 'm', sentAtMs: hub.clock.now, body: '{}' }]),
  ).toEqual(['m']);
  expect(hub.metrics.get('MessagesFailed')).toBe(1);
});

it('MessagesFailed counts wake-ups that sync could not handle', async () => {
  const { deps, metrics, table } = await ingestHub();
  const body = encodeMessage({
    v: messageVersion,
    cluster: 'c',
    namespace: 'ns',
    kind: 'service',
    name: 'svc',
    generation: 1,
    retryNumbers: { endpoints: 0, slices: 0 },
  });
  const failing = syncDeps({
    ...deps,
    table: { ...table, get: () => Promise.reject(new Error('the table refuses')) },
  });
  expect(await syncBatch(failing, 'c', [{ messageId: 'm', body }], deps.now() + 60_000)).toEqual(['m']);
  expect(metrics.get('MessagesFailed')).toBe(1);
});
