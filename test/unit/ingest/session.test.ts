import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { incarnationOfSession } from '#functions/ingest/session/session.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { bindSession } from '#shared/clusters/relay/sessions.ts';
import { labelsOfProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { readEvents } from '#shared/queue/events.ts';
import type { HeartbeatMessage } from '#shared/queue/messages.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { metaKey, sessionKey } from '#shared/store/keys.ts';
import { versionOf } from '#shared/store/version.ts';
import { pod } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const heartbeat = (hub: IngestHub, more: object = {}): HeartbeatMessage =>
  ({
    ...hub.header,
    type: 'heartbeat',
    readUpTo: { Service: '100' },
    sentAtMs: 1,
    ...more,
  }) as HeartbeatMessage;
const meta = async (hub: IngestHub) => (await readCluster(hub.table, 'c')) as ClusterRecord;

it('the first relay of a cluster reports its identity, and its session belongs to the first incarnation', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub));
  expect(await meta(hub)).toMatchObject({
    uid: 'cluster-uid',
    incarnation: 1,
    relay: { heartbeatAtMs: hub.clock.now },
    unverified: undefined,
  });
  expect((await meta(hub)).relay.readUpTo.Service).toBe(versionOf(1, '100'));
});

it('a heartbeat records the version of Kubernetes, and a heartbeat without one keeps it', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub, { kubernetesVersion: 'v1.33.5-eks-113cf36' }));
  hub.clock.now += 30_000;
  await hub.ingest(heartbeat(hub));
  expect((await meta(hub))?.relay.kubernetesVersion).toBe('v1.33.5-eks-113cf36');
});

it('a heartbeat records the numbers of annotated Services, and a heartbeat without them keeps them', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub));
  expect((await meta(hub)).relay.annotated).toBeUndefined();
  hub.clock.now += 30_000;
  await hub.ingest(heartbeat(hub, { annotated: { valid: 3, invalid: 1 } }));
  hub.clock.now += 30_000;
  await hub.ingest(heartbeat(hub));
  expect((await meta(hub)).relay.annotated).toEqual({ valid: 3, invalid: 1 });
  hub.clock.now += 30_000;
  await hub.ingest(heartbeat(hub, { annotated: { valid: 3, invalid: 1, sliced: 4, stray: 2 } }));
  expect((await meta(hub)).relay.annotated).toEqual({ valid: 3, invalid: 1, sliced: 4, stray: 2 });
});

it('heartbeats raise what has been read, and never lower it', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub));
  hub.clock.now += 30_000;
  await hub.ingest(heartbeat(hub, { readUpTo: { Service: '90', Pod: '7' } }));
  expect((await meta(hub)).relay.readUpTo).toMatchObject({
    Service: versionOf(1, '100'),
    Pod: versionOf(1, '7'),
  });
});

it('a session counts as having read its first list, before any heartbeat with versions has come', async () => {
  const hub = await ingestHub();
  await hub.ingest({
    ...hub.live('Pod', 100_010, entry('Pod', 100_010, pod('p'))),
    firstListVersion: '100000',
  });
  expect((await meta(hub)).relay.readUpTo.Service).toBe(versionOf(1, '100000'));

  // The cluster is restored, and the relay that has seen it stops leading before it can send.
  await hub.ingest({
    ...hub.live('Pod', 43, entry('Pod', 43, pod('p'))),
    session: 's2',
    firstListVersion: '42',
  });
  expect((await meta(hub)).unverified).toMatchObject({ session: 's2' });
});

it('the next session of the same cluster belongs to the same incarnation', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub));
  const next = readEvents(encodeMessage(heartbeat(hub, { session: 's2', firstListVersion: '100' })));
  expect(await incarnationOfSession({ deps: hub.deps, cluster: await meta(hub) }, next, hub.clock.now)).toBe(
    1,
  );
});

it.each([
  ['of another cluster', { session: 's2', uid: 'another', firstListVersion: '500' }],
  ['whose first list is older than what has been read', { session: 's2', firstListVersion: '99' }],
  [
    'whose relay saw the history go back, although it has come as far again',
    { session: 's2', firstListVersion: '500', historyRewoundAtMs: 7 },
  ],
])('messages of a session %s wait until sweep has looked', async (_what, other) => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub));
  const message = { ...hub.live('Pod', 200, entry('Pod', 200, pod('p'))), ...other };
  expect(await hub.ingest(message)).toEqual([]);
  expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toBeUndefined();
  expect((await meta(hub)).unverified).toMatchObject({ session: 's2' });
  expect(hub.queues.events.waiting().map((m) => m.visibleAt - hub.clock.now)).toEqual([60_000]);

  // Sweep has found a new incarnation.
  await hub.table.update(metaKey('c'), { set: { inc: 2, uid: 'another' } });
  await bindSession(hub.table, { id: 'c', incarnation: 2 }, 's2', hub.clock.now);
  await hub.ingest(...hub.queues.events.waiting().map((m) => m.body));
  expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(versionOf(2, '200'));
});

it('a session keeps its incarnation when the cluster gets a new one: its late messages lose', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub), hub.live('Pod', 5, entry('Pod', 5, pod('p'))));
  await hub.table.update(metaKey('c'), { set: { inc: 2 } });
  await bindSession(hub.table, { id: 'c', incarnation: 2 }, 's2', hub.clock.now);
  await hub.ingest({ ...hub.list('Pod', 3, entry('Pod', 2, pod('p', { uid: 'new' }))), session: 's2' });
  await hub.ingest(hub.live('Pod', 900, entry('Pod', 900, pod('p'))));
  expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(versionOf(2, '2'));
});

it('a message of a session in doubt waits for a minute each time', async () => {
  const hub = await ingestHub();
  await hub.ingest(heartbeat(hub));
  await hub.queues.events.send([
    {
      body: encodeMessage({
        ...hub.live('Pod', 200, entry('Pod', 200, pod('p'))),
        session: 's2',
        uid: 'another',
      }),
    },
  ]);
  const delays: number[] = [];
  for (let i = 0; i < 3; i++) {
    const [message, ...others] = hub.queues.events.waiting();
    expect(others).toEqual([]);
    hub.queues.events.purge();
    await hub.ingest(message?.body ?? '');
    delays.push((hub.queues.events.waiting()[0]?.visibleAt ?? 0) - hub.clock.now);
  }
  expect(delays).toEqual([60_000, 60_000, 60_000]);
});

it('a session expires a month after its last message, and not while it sends', async () => {
  const hub = await ingestHub();
  const days = 24 * 3_600_000;
  const ttlDays = async () =>
    (((await hub.table.get(sessionKey('c', 's')))?.['ttl'] as number) * 1000 - hub.clock.now) / days;
  await hub.ingest(heartbeat(hub));
  expect(await ttlDays()).toBeCloseTo(30, 3);
  for (let day = 0; day < 100; day++) {
    hub.clock.now += days;
    await hub.ingest(heartbeat(hub));
    expect(await ttlDays()).toBeGreaterThan(13);
  }
});

it('a version that no API server has given counts in the cluster of its relay alone, and until its next incarnation', async () => {
  const hub = await ingestHub();
  const absurd = '9'.repeat(39);
  const labelsNow = async () =>
    labelsOfProjectedPod((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection ?? '[]');
  const live = (rv: number, app: string) =>
    hub.live('Pod', rv, entry('Pod', rv, pod('p', { labels: { app } })));
  await hub.ingest({
    ...live(5, 'hostile'),
    entries: [{ ...entry('Pod', 5, pod('p', { labels: { app: 'hostile' } })), resourceVersion: absurd }],
  });
  await hub.ingest(live(6, 'true'));
  expect(await labelsNow()).toEqual({ app: 'hostile' });
  await hub.table.update(metaKey('c'), { set: { inc: 2 } });
  await bindSession(hub.table, { id: 'c', incarnation: 2 }, 's2', hub.clock.now);
  await hub.ingest({ ...live(7, 'true'), session: 's2' });
  expect(await labelsNow()).toEqual({ app: 'true' });
});

it.each([
  ['the queue took it after the incarnation began, and the relay’s clock is slow', 1, -600_000, 'outdated'],
  ['the queue took it before, and it is late', -1, 1, undefined],
  ['the queue took it before, and the relay’s clock is fast', -1, 600_000, undefined],
] as const)(
  'a heartbeat of a former incarnation shows that its relay still sends only if the queue took it after the next one began: %s',
  async (_when, later, clock, state) => {
    const hub = await ingestHub();
    await hub.ingest(heartbeat(hub));
    const sinceMs = hub.clock.now + 60_000;
    await hub.table.update(metaKey('c'), { set: { inc: 2, incSince: sinceMs } });
    hub.clock.now = sinceMs + 60_000;
    const body = encodeMessage(heartbeat(hub, { sentAtMs: sinceMs + clock }));
    expect(await ingestBatch(hub.deps, 'c', [{ messageId: 'm', body, sentAtMs: sinceMs + later }])).toEqual(
      [],
    );
    expect(hub.queues.quarantine.waiting()).toEqual([]);
    expect((await meta(hub)).unverified?.state).toBe(state);
  },
);
