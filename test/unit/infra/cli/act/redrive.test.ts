import { afterAll, beforeAll, expect, it } from 'vitest';
import { listSetAside, type SetAsideMessage } from '#infra/cli/act/redrive.ts';
import { partsOf, type WorkKind } from '#shared/kube/work-kinds.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';

import { readWakeUp } from '#shared/queue/parse.ts';
import type { WorkKey } from '#shared/store/keys.ts';
import { addGeneration, claim, readWork, releaseClean } from '#shared/workqueue/item-store.ts';
import { isLookOnly, partState, partsToRun } from '#shared/workqueue/rules/item.ts';
import { recordSuccess } from '#shared/workqueue/rules/next-state.ts';
import { localHub } from '#test/unit/infra/cli/hub/local-hub.ts';

let hub: Awaited<ReturnType<typeof localHub>>;
let clusters = 0;
/** Each test's own. */
async function newCluster(): Promise<string> {
  const id = `c${++clusters}`;
  await hub.register(id);
  return id;
}
beforeAll(async () => {
  hub = await localHub();
});
afterAll(() => hub?.close());

const look = async (cluster: string, now = Date.now): Promise<readonly SetAsideMessage[]> =>
  (await listSetAside({ ...hub, now }, [cluster])).found;

/** A service whose work was given up: generation 1 is done. */
async function givenUp(cluster: string, name: string, kind: WorkKind = 'service') {
  const key = { cluster, namespace: 'ns', kind, name };
  await addGeneration(hub.table, key, 1);
  await runOnce(key);
  return key;
}

/** Both controllers succeed. Resolves to whether the work is done. */
async function runOnce(key: WorkKey): Promise<boolean> {
  const read = { item: await readWork(hub.table, key), parts: partsOf[key.kind] };
  const item = await claim(hub.table, key, read, { id: 'l', nowMs: 1, untilMs: 2 });
  if (!item) throw new Error('not claimed');
  const { generation, parts: before } = item;
  const after = Object.fromEntries(
    partsOf[key.kind].map((part) => [part, recordSuccess(partState(item, part), generation)]),
  );
  return releaseClean(hub.table, key, {
    leaseId: 'l',
    generation,
    before,
    after,
    triggers: undefined,
    nowMs: 2,
  });
}

const wakeUp = (cluster: string, service: string) => ({
  v: messageVersion,
  cluster,
  namespace: 'ns',
  kind: 'service',
  name: service,
  generation: 1,
  retryNumbers: { endpoints: 0, slices: 0 },
});
const live = (cluster: string) => ({
  ...{
    v: messageVersion,
    type: 'live',
    cluster,
    session: 's',
    uid: 'u',
    firstListVersion: '1',
    kind: 'Service',
    asOf: '7',
  },
  entries: [{ namespace: 'ns', name: 'web', resourceVersion: '7' }],
});
const quarantined = (cluster: string, from: string, body: string) =>
  encodeMessage({ reason: 'v is 2: this version reads 1', from, cluster, body });

it.concurrent('parked work is shown with its reason, and taken up as a new generation that no worker drops', async () => {
  const cluster = await newCluster();
  const key = await givenUp(cluster, 'web');
  await hub.put(
    cluster,
    'parked',
    encodeMessage({
      cluster,
      namespace: 'ns',
      kind: 'service',
      name: 'web',
      part: 'slices',
      generation: 1,
      error: 'refused by a webhook',
      parkedAtMs: 1,
    }),
  );

  const found = await look(cluster);
  expect(found).toMatchObject([
    { queue: 'parked', cluster, subject: 'ns/web EndpointSlices', why: 'refused by a webhook' },
  ]);
  expect(await found[0]?.redrive()).toBe('enqueued');
  expect(await hub.depth(cluster, 'parked')).toBe(0);
  const work = await readWork(hub.table, key);
  const [message] = (await hub.take(cluster, 'syncs')) as readonly ReturnType<typeof wakeUp>[];
  expect(work).toMatchObject({ generation: 2, apiReadGeneration: 2 });
  expect(message && partsToRun(readWakeUp(encodeMessage(message)), work)).toEqual(['endpoints', 'slices']);
});

it.concurrent('a parked export is taken up as a change, so that its run wakes the importers', async () => {
  const cluster = await newCluster();
  const key = await givenUp(cluster, 'web', 'export');
  const parked = {
    cluster,
    namespace: 'ns',
    kind: 'export',
    name: 'web',
    part: 'export',
    generation: 1,
    error: 'no queue',
    parkedAtMs: 1,
  };
  await hub.put(cluster, 'parked', encodeMessage(parked));
  expect(await (await look(cluster))[0]?.redrive()).toBe('enqueued');
  const work = await readWork(hub.table, key);
  expect([work.generation, isLookOnly(work)]).toEqual([2, false]);
});

it.concurrent('taken up twice it is done once more and nothing else', async () => {
  const cluster = await newCluster();
  const key = await givenUp(cluster, 'web');
  await hub.letDie(cluster, 'syncs', encodeMessage(wakeUp(cluster, 'web')));
  const [first] = await look(cluster);
  expect(await first?.redrive()).toBe('enqueued');
  expect(await first?.redrive()).toBe('enqueued');

  const messages = (await hub.take(cluster, 'syncs')) as readonly ReturnType<typeof wakeUp>[];
  expect(messages).toHaveLength(2);
  expect(await runOnce(key)).toBe(true);
  for (const m of messages)
    expect(partsToRun(readWakeUp(encodeMessage(m)), await readWork(hub.table, key))).toEqual([]);
  expect(await look(cluster)).toEqual([]);
});

it.concurrent('looking takes nothing away', async () => {
  const cluster = await newCluster();
  await hub.letDie(cluster, 'syncs', encodeMessage(wakeUp(cluster, 'web')));
  await hub.letDie(cluster, 'events', encodeMessage(live(cluster)));
  await hub.put(
    cluster,
    'parked',
    encodeMessage({
      cluster,
      namespace: 'ns',
      kind: 'service',
      name: 'web',
      controller: 'endpoints',
      generation: 1,
      error: 'e',
      parkedAtMs: 1,
    }),
  );
  const queues = async (): Promise<readonly string[]> => {
    const { found, more, release } = await listSetAside({ ...hub, now: Date.now }, [cluster]);
    expect(more).toBe(false);
    await release();
    return found.map((s) => s.queue).sort();
  };
  expect(await queues()).toEqual(['dead events', 'dead syncs', 'parked']);
  expect(await queues()).toEqual(['dead events', 'dead syncs', 'parked']);
  for (const queue of ['deadSyncs', 'deadEvents', 'parked'] as const)
    expect(await hub.depth(cluster, queue)).toBe(1);
  expect(await hub.take(cluster, 'syncs')).toEqual([]);
});

it.concurrent('dead events are sent again unchanged, and those of days ago are left to the next list', async () => {
  const cluster = await newCluster();
  await hub.letDie(cluster, 'events', encodeMessage(live(cluster)));
  const [young] = await look(cluster);
  expect(young).toMatchObject({ queue: 'dead events', subject: 'live of 1 Service: ns/web' });
  expect(await young?.redrive()).toBe('enqueued');
  expect(await hub.take(cluster, 'events')).toEqual([live(cluster)]);

  await hub.letDie(cluster, 'events', encodeMessage(live(cluster)));
  const [old] = await look(cluster, () => Date.now() + 2 * 86_400_000);
  expect(await old?.redrive()).toBe('dropped');
  expect(await hub.take(cluster, 'events')).toEqual([]);
  expect(await hub.depth(cluster, 'deadEvents')).toBe(0);
});

it.concurrent('quarantined messages are read again by the current version, and stay if they are still unreadable', async () => {
  const cluster = await newCluster();
  await hub.put(cluster, 'quarantine', quarantined(cluster, 'syncs', encodeMessage(wakeUp(cluster, 'web'))));
  await hub.put(cluster, 'quarantine', quarantined(cluster, 'events', encodeMessage(live(cluster))));
  await hub.put(cluster, 'quarantine', quarantined(cluster, 'events', '{"v":99}'));
  await hub.put(
    cluster,
    'quarantine',
    quarantined(cluster, 'syncs', encodeMessage(wakeUp('somebody-elses', 'web'))),
  );
  await hub.put(cluster, 'quarantine', quarantined(cluster, 'events', encodeMessage(live('somebody-elses'))));
  await hub.put(cluster, 'quarantine', 'not even JSON');

  const found = await look(cluster);
  expect(found).toHaveLength(6);
  const fates = await Promise.all(found.map((s) => s.redrive()));
  expect(fates.filter((fate) => fate === 'enqueued')).toHaveLength(2);
  expect(await hub.take(cluster, 'events')).toEqual([live(cluster)]);
  expect(await hub.take(cluster, 'syncs')).toMatchObject([
    { cluster, namespace: 'ns', name: 'web', retryNumbers: { endpoints: 0, slices: 0 } },
  ]);
  expect(await hub.depth(cluster, 'quarantine')).toBe(4);
});

it.concurrent('each cluster is shown its own', async () => {
  const [one, other] = [await newCluster(), await newCluster()];
  await hub.letDie(one, 'syncs', encodeMessage(wakeUp(one, 'web')));
  await hub.letDie(other, 'syncs', encodeMessage(wakeUp(other, 'web')));
  expect((await look(one)).map((s) => s.cluster)).toEqual([one]);
  await hub.letDie(other, 'syncs', encodeMessage(wakeUp(other, 'api')));
  expect((await listSetAside({ ...hub, now: Date.now }, [one, other])).found.map((s) => s.cluster)).toContain(
    other,
  );
});

it.concurrent('messages of another cluster in a cluster’s dead-letter queues stay there, with the reason', async () => {
  const [one, other] = [await newCluster(), await newCluster()];
  await hub.letDie(one, 'events', encodeMessage(live(other)));
  await hub.letDie(one, 'syncs', encodeMessage(wakeUp(other, 'web')));

  const { found, release } = await listSetAside({ ...hub, now: Date.now }, [one, other]);
  const why = `it names cluster ${other} in the queue of ${one}: not trusted`;
  expect(found).toMatchObject([
    { queue: 'dead events', cluster: one, why },
    { queue: 'dead syncs', cluster: one, why },
  ]);
  expect(await Promise.all(found.map((s) => s.redrive()))).toEqual(['stays', 'stays']);
  await release();
  for (const queue of ['events', 'syncs'] as const)
    for (const id of [one, other]) expect(await hub.take(id, queue)).toEqual([]);
  for (const queue of ['deadEvents', 'deadSyncs'] as const) expect(await hub.depth(one, queue)).toBe(1);
  expect(
    (await readWork(hub.table, { cluster: other, namespace: 'ns', kind: 'service', name: 'web' })).generation,
  ).toBe(0);
});

it.concurrent('a message that somebody sent to a dead-letter queue stays there: SQS has not moved it', async () => {
  const cluster = await newCluster();
  await hub.put(cluster, 'deadEvents', encodeMessage(live(cluster)));
  await hub.put(cluster, 'deadSyncs', encodeMessage(wakeUp(cluster, 'web')));
  const found = await look(cluster);
  const why = 'somebody sent it to the dead-letter queue, to which only SQS moves messages: not trusted';
  expect(found.map((s) => s.why)).toEqual([why, why]);
  expect(await Promise.all(found.map((s) => s.redrive()))).toEqual(['stays', 'stays']);
  expect([await hub.take(cluster, 'events'), await hub.take(cluster, 'syncs')]).toEqual([[], []]);
});

it.concurrent('a heartbeat is dropped: a new message would show a relay of then as alive now', async () => {
  const cluster = await newCluster();
  const { kind: _, asOf: __, entries: ___, ...header } = live(cluster);
  const heartbeat = encodeMessage({ ...header, type: 'heartbeat', readUpTo: {}, sentAtMs: 1 });
  await hub.letDie(cluster, 'events', heartbeat);
  await hub.put(cluster, 'quarantine', quarantined(cluster, 'events', heartbeat));
  const found = await look(cluster);
  expect(await Promise.all(found.map((s) => s.redrive()))).toEqual(['dropped', 'dropped']);
  expect([await look(cluster), await hub.take(cluster, 'events')]).toEqual([[], []]);
});
