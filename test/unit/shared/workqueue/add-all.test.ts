import { expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import { metaKey } from '#shared/store/keys.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { entry, ingestHub } from '#test/unit/ingest/hub.ts';
import { service } from '#test/unit/shared/kube/objects.ts';

it('every service is woken after a switch, with a live read, also services deleted during the time without writes', async () => {
  const hub = await ingestHub();
  const other = { ...service(), metadata: { ...service().metadata, name: 'other' } };
  await hub.ingest(hub.live('Service', 6, entry('Service', 5, service()), entry('Service', 6, other)));
  await switchMode(hub.table, 'c', 'paused', Date.now());
  await hub.ingest(hub.live('Service', 7, entry('Service', 7, undefined, 'other')));
  await switchMode(hub.table, 'c', 'active', Date.now());
  hub.woken();

  const meta = await readCluster(hub.table, 'c');
  await addAll(hub.deps, meta as NonNullable<typeof meta>);
  expect(hub.woken().map((m) => m.name)).toEqual(['other', 'svc']);
  expect((await readCluster(hub.table, 'c'))?.modeSwitch.wakesPending).toBe(false);
});

it('the wake-ups stay pending after another switch meanwhile', async () => {
  const hub = await ingestHub();
  await switchMode(hub.table, 'c', 'paused', Date.now());
  const meta = await readCluster(hub.table, 'c');
  await switchMode(hub.table, 'c', 'active', Date.now());
  await addAll(hub.deps, meta as NonNullable<typeof meta>);
  expect((await readCluster(hub.table, 'c'))?.modeSwitch.wakesPending).toBe(true);
});

it('a worker that dies half-way is followed by one that continues, and each step wakes its services before it is noted', async () => {
  const hub = await ingestHub();
  const named = (name: string) => ({ ...service(), metadata: { ...service().metadata, name } });
  const names = ['a', 'b', 'c', 'd', 'e'];
  await hub.ingest(hub.live('Service', 9, ...names.map((name) => entry('Service', 9, named(name)))));
  await switchMode(hub.table, 'c', 'shadow', Date.now());
  hub.woken();
  const meta = async (): Promise<ClusterRecord> => (await readCluster(hub.table, 'c')) as ClusterRecord;
  const step = { services: 2, entries: 2 };
  let sends = 0;
  const send: MessageQueue['send'] = async (messages) =>
    ++sends > 1 ? Promise.reject(new Error('died')) : hub.queues.syncs.send(messages);
  await expect(
    addAll({ ...hub.deps, queues: () => ({ ...hub.queues, syncs: { send } }) }, await meta(), step),
  ).rejects.toThrow('died');
  const first = hub.woken().map((m) => m.name);
  expect(first.length).toBeGreaterThan(0);
  expect(first.length).toBeLessThan(names.length);
  expect((await meta()).modeSwitch.wakesPending).toBe(true);

  await addAll(hub.deps, await meta(), step);
  expect([...new Set([...first, ...hub.woken().map((m) => m.name)])].sort()).toEqual(names);
  expect((await meta()).modeSwitch.wakesPending).toBe(false);
});

it('the position of a former switch’s wake-ups does not count after another switch', async () => {
  const hub = await ingestHub();
  await hub.ingest(hub.live('Service', 6, entry('Service', 5, service())));
  await switchMode(hub.table, 'c', 'shadow', Date.now());
  const before = (await readCluster(hub.table, 'c')) as ClusterRecord;
  await hub.table.update(metaKey('c'), {
    set: { wokenTo: JSON.stringify({ count: before.modeSwitch.count, place: { namespace: 'zz' } }) },
  });
  await switchMode(hub.table, 'c', 'active', Date.now());
  hub.woken();
  await addAll(hub.deps, (await readCluster(hub.table, 'c')) as ClusterRecord);
  expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
});
