import { expect, it } from 'vitest';
import { readMeta, switchMode } from '#shared/snapshot/meta.ts';
import { wakeAll } from '#shared/wakeup/wake-all.ts';
import { entry, ingestHub } from '../ingest/hub.ts';
import { service } from '../kube/objects.ts';

it('wakes every service after a switch, those that went while nothing was written too, with a live read', async () => {
  const hub = await ingestHub();
  const other = { ...service(), metadata: { ...service().metadata, name: 'other' } };
  await hub.ingest(hub.live('Service', 6, entry('Service', 5, service()), entry('Service', 6, other)));
  await switchMode(hub.table, 'c', 'paused');
  await hub.ingest(hub.live('Service', 7, entry('Service', 7, undefined, 'other')));
  await switchMode(hub.table, 'c', 'active');
  hub.woken();

  const meta = await readMeta(hub.table, 'c');
  await wakeAll(hub.deps, meta as NonNullable<typeof meta>);
  expect(hub.woken().map((m) => m.service)).toEqual(['other', 'svc']);
  expect((await readMeta(hub.table, 'c'))?.wakeAll).toBe(false);
});

it('leaves the waking owed when there was another switch meanwhile', async () => {
  const hub = await ingestHub();
  await switchMode(hub.table, 'c', 'paused');
  const meta = await readMeta(hub.table, 'c');
  await switchMode(hub.table, 'c', 'active');
  await wakeAll(hub.deps, meta as NonNullable<typeof meta>);
  expect((await readMeta(hub.table, 'c'))?.wakeAll).toBe(true);
});
