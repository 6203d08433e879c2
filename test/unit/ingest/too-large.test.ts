/** Objects of tenants, and messages of relays, that are too large for the table or a worker. */
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { kinds, type Service } from '#shared/kube/types.ts';
import { isAlive, readObject } from '#shared/store/inputs/objects.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { objectKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, ingestHub, silent } from './hub.ts';

/** Below 256 K characters, and above the 256 KB of a projection. */
const large: Service = {
  ...service(),
  metadata: {
    name: 'large',
    namespace: 'ns',
    uid: 'u',
    labels: Object.fromEntries(Array.from({ length: 2_440 }, (_, i) => [`l${i}`, 'v'.repeat(63)])),
    annotations: { 'service.kubernetes.io/topology-mode': '\u8a9e'.repeat(80_000) },
  },
};

it('an object that is too large in bytes is quarantined, and its neighbours are applied', async () => {
  const hub = await ingestHub();
  const warnings: unknown[] = [];
  const log = {
    ...silent,
    warn: (text: string, fields: object = {}) => void warnings.push({ text, ...fields }),
  };
  for (const kind of kinds.filter((k) => k !== 'Service')) await hub.ingest(hub.list(kind, 10));
  const part = hub.list('Service', 10, entry('Service', 4, service()), entry('Service', 5, large));
  expect(
    await ingestBatch({ ...hub.deps, log }, 'c', [
      { messageId: 'm', sentAtMs: hub.clock.now, body: JSON.stringify(part) },
    ]),
  ).toEqual([]);
  expect(isAlive(await readObject(hub.store, 'Service', 'ns', 'svc'))).toBe(true);
  expect(await readObject(hub.store, 'Service', 'ns', 'large')).toBeUndefined();
  expect(hub.metrics.get('Quarantined')).toBe(1);
  expect(warnings).toMatchObject([
    { cluster: 'c', reason: expect.stringContaining('text of 1 to 262144 bytes is needed') },
  ]);
  const meta = await readCluster(hub.table, 'c');
  expect(meta && hasSynced(meta)).toBe(true);
});

it('the record of an object that has become too large stays, and no list deletes it', async () => {
  const hub = await ingestHub();
  const small = { ...large, metadata: { ...large.metadata, annotations: {} } };
  await hub.ingest(hub.live('Service', 5, entry('Service', 5, small)));
  await hub.ingest(
    hub.live('Service', 6, entry('Service', 6, large)),
    hub.list('Service', 10, entry('Service', 6, large)),
  );
  const known = await readObject(hub.store, 'Service', 'ns', 'large');
  expect(known).toMatchObject({ projection: entry('Service', 5, small).projection });
});

it('a pod keeps as many of its former label sets as fit its item', async () => {
  const hub = await ingestHub();
  const labelled = (i: number) =>
    pod('p', {
      labels: {
        app: String(i),
        ...Object.fromEntries(
          Array.from({ length: 600 }, (_, k) => [`wide-${k}`.padEnd(50, 'x'), 'y'.repeat(50)]),
        ),
      },
    });
  // The table fails before notifications are sent.
  const table: Table = {
    ...hub.table,
    async update(key, change, condition) {
      if (key.sk === 'p' && change.remove) throw new Error('died');
      return hub.table.update(key, change, condition);
    },
  };
  for (let i = 0; i < 12; i++) {
    const body = JSON.stringify(hub.live('Pod', 10 + i, entry('Pod', 10 + i, labelled(i))));
    await ingestBatch({ ...hub.deps, table }, 'c', [{ messageId: 'm', sentAtMs: hub.clock.now, body }]);
  }
  const record = await readObject(hub.store, 'Pod', 'ns', 'p');
  expect(record?.projection).toContain('"app":"11"');
  expect(record?.unnotifiedLabels).toMatchObject([{ app: '9' }, { app: '10' }]);
  const item = await hub.table.get(objectKey('c', 'Pod', 'ns', 'p'));
  expect(itemSize(item as Item)).toBeGreaterThan(180 * 1024);
  expect(itemSize(item as Item)).toBeLessThan((64 + 128 + 1) * 1024);
});

it('messages that inflate to much are worked on one after the other', async () => {
  const hub = await ingestHub();
  await hub.emptyLists(1);
  let atOnce = 0;
  let most = 0;
  const table: Table = {
    ...hub.table,
    async put(item, condition) {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return hub.table.put(item, condition);
    },
  };
  const bomb = (i: number) => {
    const text = JSON.stringify({
      ...hub.live('Pod', 10, entry('Pod', 10, pod(`p${i}`))),
      x: '0'.repeat(200_000),
    });
    return {
      messageId: `m${i}`,
      sentAtMs: hub.clock.now,
      body: `z:${deflateRawSync(text).toString('base64')}`,
    };
  };
  const records = Array.from({ length: 5 }, (_, i) => bomb(i));
  const ingest = { ...defaultLimits.ingest, memoryAtOnce: 500_000 };
  expect(
    await ingestBatch({ ...hub.deps, table, limits: { ...defaultLimits, ingest } }, 'c', records),
  ).toEqual([]);
  expect(most).toBe(1);
  for (let i = 0; i < 5; i++) expect(isAlive(await readObject(hub.store, 'Pod', 'ns', `p${i}`))).toBe(true);
});

it('a message whose turn does not come in a run is sent again, and that is no run of it', async () => {
  const hub = await ingestHub();
  await hub.emptyLists(1);
  const limits = { ...defaultLimits, ingest: { ...defaultLimits.ingest, memoryAtOnce: 1 } };
  const table: Table = {
    ...hub.table,
    async put(item, condition) {
      if (item.sk.startsWith('p')) hub.clock.now += 20_000;
      return hub.table.put(item, condition);
    },
  };
  const records = [1, 2].map((i) => ({
    messageId: `m${i}`,
    sentAtMs: hub.clock.now,
    body: JSON.stringify(hub.live('Pod', 10, entry('Pod', 10, pod(`p${i}`)))),
  }));
  expect(await ingestBatch({ ...hub.deps, table, limits }, 'c', records, hub.clock.now + 30_000)).toEqual([]);
  expect(hub.queues.events.waiting().map((m) => JSON.parse(m.body))).toMatchObject([
    { run: 1, entries: [{ name: 'p2' }] },
  ]);
});
