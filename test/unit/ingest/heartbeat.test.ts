/**
 * The time of a heartbeat is that of its message, and with it come the queue's lag and the offset of the
 * relay's clock.
 */
import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { handledAtMs } from '#shared/clusters/relay/relay-state.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

interface Heartbeat {
  /** When the queue accepted it. */
  readonly sentAtMs: number;
  readonly readUpTo?: object;
  readonly relayClockAheadMs?: number;
}

const heartbeat = (
  { header }: IngestHub,
  { sentAtMs, relayClockAheadMs = 0, readUpTo = {} }: Heartbeat,
): string =>
  encodeMessage({ ...header, type: 'heartbeat', readUpTo, sentAtMs: sentAtMs + relayClockAheadMs });

const beat = (hub: IngestHub, given: Heartbeat): Promise<readonly string[]> =>
  ingestBatch(hub.deps, 'c', [{ messageId: 'm', body: heartbeat(hub, given), sentAtMs: given.sentAtMs }]);

const relayOf = async (hub: IngestHub) => (await readCluster(hub.table, 'c'))!.relay;

it('a heartbeat of a quarter of an hour ago counts as of then, and shows how long events wait in the queue', async () => {
  const hub = await ingestHub();
  const sentAtMs = hub.clock.now - 900_600;
  await beat(hub, { sentAtMs, relayClockAheadMs: 30 });
  expect(await relayOf(hub)).toMatchObject({
    heartbeatAtMs: sentAtMs,
    queueLagSeconds: 900,
    clockAheadSeconds: 0,
  });
  // Sweep asks whether it was handled after another session had begun.
  expect(handledAtMs(await relayOf(hub))).toBeLessThanOrEqual(hub.clock.now);
});

it('a queue that keeps up and a clock that is right again end what an earlier heartbeat has shown', async () => {
  const hub = await ingestHub();
  await beat(hub, { sentAtMs: hub.clock.now - 60_000, relayClockAheadMs: 5_000 });
  expect(await relayOf(hub)).toMatchObject({ queueLagSeconds: 60, clockAheadSeconds: 5 });
  await beat(hub, { sentAtMs: hub.clock.now });
  expect(await relayOf(hub)).toMatchObject({ queueLagSeconds: 0, clockAheadSeconds: 0 });
});

it('an older heartbeat that comes later changes nothing', async () => {
  const hub = await ingestHub();
  await beat(hub, { sentAtMs: hub.clock.now, readUpTo: { Service: '100' } });
  const before = await relayOf(hub);
  hub.clock.now += 60_000;
  await beat(hub, { sentAtMs: before.heartbeatAtMs - 1, readUpTo: { Service: '99' } });
  expect(await relayOf(hub)).toEqual(before);
});

it('a message that seems to be of the future counts as of now', async () => {
  const hub = await ingestHub();
  await beat(hub, { sentAtMs: hub.clock.now + 5_000 });
  expect(await relayOf(hub)).toMatchObject({ heartbeatAtMs: hub.clock.now, queueLagSeconds: 0 });
});

it('a heartbeat for which a run has no time comes back as the same message, whose time is kept', async () => {
  const hub = await ingestHub();
  const record = {
    messageId: 'm',
    body: heartbeat(hub, { sentAtMs: hub.clock.now }),
    sentAtMs: hub.clock.now,
  };
  expect(await ingestBatch(hub.deps, 'c', [record], hub.clock.now - 1)).toEqual(['m']);
  expect(hub.queues.events.waiting()).toEqual([]);
});

it.each([
  ['behind', -7_000],
  ['ahead', 7_000],
])(
  'changes count from when they happened, although the clock of the relay is %s',
  async (_where, relayClockAheadMs) => {
    const hub = await ingestHub();
    await hub.emptyLists(5);
    await beat(hub, { sentAtMs: hub.clock.now, relayClockAheadMs });
    expect((await relayOf(hub)).clockAheadSeconds).toBe(relayClockAheadMs / 1000);
    const happenedAtMs = hub.clock.now;
    hub.clock.now += 3_000;
    await hub.ingest(
      hub.live('Service', 10, {
        ...entry('Service', 10, service()),
        observedAtMs: happenedAtMs + relayClockAheadMs,
      }),
    );
    expect(hub.woken().map(({ latencyFromMs }) => latencyFromMs)).toEqual([happenedAtMs]);
    expect(hub.metrics.get('IngestLatency')).toBe(3_000);
  },
);

it('nothing was observed after its message was sent, also before the first heartbeat shows a clock that is ahead', async () => {
  const hub = await ingestHub();
  await hub.emptyLists(5);
  await hub.ingest(
    hub.live('Service', 10, { ...entry('Service', 10, service()), observedAtMs: hub.clock.now + 60_000 }),
  );
  expect(hub.woken().map(({ latencyFromMs }) => latencyFromMs)).toEqual([hub.clock.now]);
});

it('the second look at an output counts from when it is due, by the clock that the first look has corrected', async () => {
  const hub = await ingestHub();
  await hub.emptyLists(5);
  await beat(hub, { sentAtMs: hub.clock.now, relayClockAheadMs: -7_000 });
  await hub.ingest(
    hub.live('Service', 10, entry('Service', 10, service())),
    hub.live('Pod', 11, entry('Pod', 11, pod('p'))),
  );
  hub.woken();
  const foreign = {
    namespace: 'ns',
    name: 'svc-x',
    uid: 'u',
    resourceVersion: '20',
    generation: 1,
    service: 'svc',
    managedBy: 'endpointslice-controller.k8s.io',
  };
  const observedAtMs = hub.clock.now;
  await hub.ingest(hub.live('EndpointSlice', 20, { ...foreign, observedAtMs: observedAtMs - 7_000 }));
  hub.clock.now += 1_000;
  const [again] = hub.queues.events.waiting();
  hub.queues.events.purge();
  await ingestBatch(hub.deps, 'c', [
    { messageId: 'again', body: again?.body ?? '', sentAtMs: again?.sentAtMs ?? 0 },
  ]);
  expect(hub.woken().map(({ latencyFromMs }) => latencyFromMs)).toEqual([observedAtMs + 1_000]);
});

it('the delays of endpoints are published once, and the slowest Services are logged', async () => {
  const hub = await ingestHub();
  const lines: unknown[] = [];
  const log = {
    ...hub.deps.log,
    info: (message: string, fields = {}) => void lines.push({ message, ...fields }),
  };
  const slow = { namespace: 'shop', service: 'web', writer: 'built_in', change: 'ready', ms: 2_600 };
  const body = encodeMessage({
    ...hub.header,
    type: 'heartbeat',
    readUpTo: {},
    sentAtMs: hub.clock.now,
    endpointDelays: {
      counts: [
        { writer: 'built_in', change: 'ready', atMostMs: 3_000, count: 1 },
        { writer: 'hub', change: 'deleted', atMostMs: 70, count: 2 },
      ],
      slowest: [slow],
    },
  });
  const values: unknown[][] = [];
  const metrics = { put: (...value: unknown[]) => void values.push(value) };
  const record = { messageId: 'm', body, sentAtMs: hub.clock.now };
  for (let time = 0; time < 2; time++) await ingestBatch({ ...hub.deps, log, metrics }, 'c', [record]);
  expect(values.filter(([name]) => name !== 'WakeUps')).toEqual([
    ['EndpointReadyDelay', 3_000, { cluster: 'c' }],
    ['EndpointRemovalDelay', 70, { cluster: 'c' }],
    ['EndpointRemovalDelay', 70, { cluster: 'c' }],
  ]);
  expect(lines).toEqual([{ message: 'slow endpoint', cluster: 'c', ...slow }]);
});

it('the removals that a relay tells stay on record until it tells more', async () => {
  const hub = await ingestHub();
  const beat = (seconds: number, more: object) => ({
    messageId: `m${seconds}`,
    body: encodeMessage({
      ...hub.header,
      type: 'heartbeat',
      readUpTo: {},
      sentAtMs: hub.clock.now,
      ...more,
    }),
    sentAtMs: hub.clock.now + seconds * 1000,
  });
  hub.clock.now += 60_000;
  await ingestBatch(hub.deps, 'c', [beat(-20, { removals: { count: 1_000, withinMs: 700 } })]);
  // Another relay, which has not seen enough yet.
  await ingestBatch(hub.deps, 'c', [beat(-10, {})]);
  expect((await readCluster(hub.deps.table, 'c'))?.relay.removals).toEqual({ count: 1_000, withinMs: 700 });
});
