/** Two relays lead in turn, and nothing is lost between their terms. */
import { beforeEach, expect, it } from 'vitest';
import { Election } from '#functions/relay/election/election.ts';
import { Relay } from '#functions/relay/relay.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import type { WatchSource } from '#functions/relay/source/watch-source.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type MemoryLease, memoryLease } from '#test/support/memory/lease-memory.ts';
import { memoryWatchSource } from '#test/support/memory/watch-source-memory.ts';
import { HubModel } from './hub-model.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

const quiet: Log = { info() {}, warn() {}, error() {}, with: () => quiet };
/**
 * From the fault until the next leader has sent its lists: what the documentation promises for 1,000 pods.
 */
const promisedMs = 10_000;

const limits = { ...defaultLimits, relay: { ...defaultLimits.relay, pageSize: 2 } };

let clock: ManualClock;
let store: Store;
let lease: MemoryLease;
let sent: { readonly by: string; readonly at: number; readonly message: EventsMessage }[];
let ids: number;

beforeEach(() => {
  clock = manualClock();
  ids = 0;
  sent = [];
  lease = memoryLease();
  store = new Store({ now: clock.now, uid: () => `uid-${++ids}`, suffix: () => 'x' });
});

interface TestRelay {
  readonly relay: Relay;
  readonly meter: Meter;
  /** Faults: this relay cannot reach the API server or the queue, or may not list pods. */
  readonly cutOff: { api: boolean; queue: boolean; podLists: boolean };
  /** The error that the queue refuses each call with; undefined while it accepts. */
  refuseWith(error: Error | undefined): void;
  breakWatches(): void;
  mendWatches(): void;
  /** Full pages that it has read. */
  readonly pages: () => number;
  /** As SIGKILL. */
  kill(): void;
  stop(): Promise<void>;
}

function start(name: string): TestRelay {
  const source = memoryWatchSource(store, { clock });
  const cutOff = { api: false, queue: false, podLists: false };
  let pages = 0;
  let killed = false;
  let refusal: Error | undefined;
  const queue = {
    async send(outgoing: readonly { readonly body: string }[]) {
      // A call that hangs, as through a firewall.
      if (cutOff.queue) await new Promise<void>((resolve) => clock.after(20_000, resolve));
      else await new Promise<void>((resolve) => clock.after(5, resolve));
      if (killed) return new Promise<void>(() => {});
      if (cutOff.queue) throw new Error('the queue cannot be reached');
      if (refusal) throw refusal;
      sent.push(...outgoing.map((m) => ({ by: name, at: clock.now(), message: parseEventsMessage(m.body) })));
    },
  };
  const call = async <T>(_what: string, effect: () => T): Promise<T> => {
    await new Promise<void>((resolve) => clock.after(cutOff.api ? 1_500 : 3, resolve));
    if (killed) await new Promise<void>(() => {});
    if (cutOff.api) throw new ClusterApiError('timed out', { status: 0 });
    return effect();
  };
  const watched: WatchSource = {
    identity: (signal) => source.identity(signal),
    version: (signal) => source.version(signal),
    watch: (kind, from, signal) => source.watch(kind, from, signal),
    async list(kind, page, signal) {
      if (kind === 'Pod' && cutOff.podLists) throw new ClusterApiError('forbidden', { status: 403 });
      if (page.limit > 1) pages++;
      return source.list(kind, page, signal);
    },
  };
  const meter = new Meter();
  const election = new Election({ store: lease.store(call), clock, log: quiet, meter, id: name, limits });
  const relay = new Relay(
    { source: watched, queue, clock, log: quiet, meter, newId: () => `${name}-${++ids}`, election, limits },
    { cluster: 'c', outputs: 'metadata' },
  );
  const stopping = new AbortController();
  const ended = relay.run(stopping.signal);
  ended.catch(() => {});
  return {
    relay,
    meter,
    cutOff,
    refuseWith(error) {
      refusal = error;
    },
    breakWatches: () => source.breakOff(),
    mendWatches: () => source.mend(),
    pages: () => pages,
    kill() {
      killed = true;
      source.breakOff();
      stopping.abort(new Error('killed'));
    },
    async stop() {
      stopping.abort(new Error('told to stop'));
      await clock.advance(0);
    },
  };
}

const pod = (name: string, app: string): void => {
  const metadata = { name, namespace: 'default', labels: { app } };
  if (store.find('Pod', 'default', name))
    store.patch('Pod', { namespace: 'default', name }, { metadata: { labels: { app } } });
  else store.create('Pod', 'default', { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
};
const remove = (name: string): void => void store.remove('Pod', 'default', name);
const lists = () => sent.filter(({ message }) => message.type === 'list');
const by = (name: string) => sent.filter((s) => s.by === name);

function expectToldAll(): void {
  const hub = new HubModel();
  for (const { message } of sent) hub.take(message);
  const pods = store.list('Pod').map((p) => [`default/${p.metadata.name}`, encodeProjection('Pod', p)]);
  expect(
    [...hub.alive('Pod')].map(([key, e]) => [key, 'projection' in e ? e.projection : '']).sort(),
  ).toEqual(pods.sort());
}

/** Two relays: `a` leads and has sent its lists, `b` is a standby. */
async function pair(): Promise<readonly [TestRelay, TestRelay]> {
  for (const name of ['p0', 'p1', 'p2']) pod(name, 'a');
  const a = start('a');
  await clock.advance(500);
  const b = start('b');
  await clock.advance(5_000);
  expect([a.relay.isLeading, b.relay.isLeading]).toEqual([true, false]);
  expect([a.relay.isReady, b.relay.isReady]).toEqual([true, true]);
  return [a, b];
}

it('one relay leads; the standby lists nothing and sends nothing, not even a heartbeat', async () => {
  const [, b] = await pair();
  pod('p3', 'b');
  await clock.advance(60_000);
  expectToldAll();
  expect(by('b')).toEqual([]);
  expect(b.pages()).toBe(0);
  expect(lease.now?.holder).toBe('a');
});

it('after the death of the leader the standby leads in time, and its lists have the entries that the queue did not accept, with deletions', async () => {
  const [a, b] = await pair();
  a.cutOff.queue = true;
  pod('p3', 'b');
  pod('p0', 'c');
  remove('p1');
  await clock.advance(100);
  a.kill();
  const killedAt = clock.now();
  await clock.advance(promisedMs);
  expect([b.relay.isLeading, b.relay.isReady]).toEqual([true, true]);
  expect((by('b')[0]?.at ?? Number.POSITIVE_INFINITY) - killedAt).toBeLessThan(promisedMs);
  expectToldAll();
});

it.each(['AccessDenied', 'QueueDoesNotExist'])(
  'a queue that was gone (%s) and accepts again may be another one: everything is listed for it',
  async (name) => {
    const a = start('a');
    for (const pods of ['p0', 'p1']) pod(pods, 'a');
    await clock.advance(10_000);
    a.refuseWith(Object.assign(new Error('no'), { name }));
    pod('p1', 'b');
    await clock.advance(20_000);
    a.refuseWith(undefined);
    // The new queue has none of the messages that the former queue accepted.
    sent = [];
    await clock.advance(120_000);
    expect(new Set(lists().map(({ message }) => (message as { kind: string }).kind)).size).toBe(5);
    expectToldAll();
  },
);

it("the new leader's session begins at the cluster's present version: an older one would look like a restored cluster", async () => {
  const [a] = await pair();
  for (let i = 0; i < 5; i++) pod('p0', `v${i}`);
  const { resourceVersion } = store;
  await clock.advance(20_000);
  a.kill();
  await clock.advance(promisedMs);
  expect(Number(by('b')[0]?.message.firstListVersion)).toBeGreaterThanOrEqual(resourceVersion);
});

it('a leader whose cluster is made again begins no session before it has renewed its Lease there: another relay may lead', async () => {
  const [a, b] = await pair();
  const objects = [...store.list('Namespace'), ...store.list('Pod')];
  const remade = objects.map((o) =>
    o.metadata.name === 'kube-system' ? { ...o, metadata: { ...o.metadata, uid: 'remade' } } : o,
  );
  store.restore(remade, store.resourceVersion + 50);
  lease.now = { holder: 'b', durationMs: 15_000, transitions: 1, resourceVersion: 'restored' };
  // Only calls for the Lease fail.
  a.cutOff.api = true;
  a.breakWatches();
  a.mendWatches();
  await clock.advance(20_000);
  expect([a.relay.isLeading, b.relay.isLeading]).toEqual([false, true]);
  expect(new Set(sent.filter(({ message }) => message.uid === 'remade').map((s) => s.by))).toEqual(
    new Set(['b']),
  );
  expectToldAll();
});

it('a leader that is cut off from the API server stops sending before the other relay leads', async () => {
  const [a, b] = await pair();
  a.cutOff.api = true;
  a.breakWatches();
  const cutAt = clock.now();
  while (!b.relay.isLeading && clock.now() < cutAt + 2 * promisedMs) {
    await clock.advance(100);
    expect(a.relay.isLeading && b.relay.isLeading).toBe(false);
  }
  pod('p3', 'b');
  await clock.advance(2_000);
  expect(clock.now() - cutAt).toBeLessThan(promisedMs + 2_000);
  expectToldAll();
  a.cutOff.api = false;
  a.mendWatches();
  await clock.advance(60_000);
  expect([a.relay.isLeading, b.relay.isLeading, a.relay.isReady]).toEqual([false, true, true]);
});

it('a leader without connection to the queue releases the Lease, and the other relay sends the unsent entries', async () => {
  const [a, b] = await pair();
  a.cutOff.queue = true;
  pod('p3', 'b');
  remove('p1');
  await clock.advance(promisedMs);
  expect([a.relay.isLeading, b.relay.isLeading]).toEqual([false, true]);
  expectToldAll();
  // It is as good as the other one when it can be reached again.
  a.cutOff.queue = false;
  pod('p4', 'b');
  await clock.advance(promisedMs);
  b.kill();
  pod('p5', 'b');
  remove('p0');
  await clock.advance(promisedMs);
  expect(a.relay.isLeading).toBe(true);
  expectToldAll();
});

it('two relays without a queue swap the Lease less and less often, and everything is sent as soon as one reaches it', async () => {
  const [a, b] = await pair();
  const sessions = (): number =>
    a.meter.value('relay_sessions_total') + b.meter.value('relay_sessions_total');
  a.cutOff.queue = true;
  b.cutOff.queue = true;
  pod('p3', 'b');
  await clock.advance(600_000);
  const before = sessions();
  await clock.advance(600_000);
  expect(sessions() - before).toBeLessThanOrEqual(11);
  remove('p2');
  a.cutOff.queue = false;
  b.cutOff.queue = false;
  await clock.advance(60_000);
  expectToldAll();
});

it('a leader that is stopped sends what waits and gives the Lease back', async () => {
  const [a, b] = await pair();
  pod('p3', 'b');
  await a.stop();
  const stoppedAt = clock.now();
  await clock.advance(2_500);
  expect(
    by('a').some(({ message }) => message.type === 'live' && message.entries.some((e) => e.name === 'p3')),
  ).toBe(true);
  expect([b.relay.isLeading, b.relay.isReady]).toEqual([true, true]);
  expect((by('b')[0]?.at ?? Number.POSITIVE_INFINITY) - stoppedAt).toBeLessThan(2_500);
  expectToldAll();
});

it('a single relay, killed and started again, lists when the former lease has expired', async () => {
  for (const name of ['p0', 'p1', 'p2']) pod(name, 'a');
  const a = start('a');
  await clock.advance(5_000);
  a.kill();
  remove('p1');
  pod('p3', 'b');
  const b = start('b');
  await clock.advance(promisedMs);
  expect([b.relay.isLeading, b.relay.isReady]).toEqual([true, true]);
  expectToldAll();
});

it('a relay that may not list every kind is neither ready nor a candidate until it may', async () => {
  const a = start('a');
  await clock.advance(5_000);
  const b = start('b');
  b.cutOff.podLists = true;
  await clock.advance(5_000);
  expect(b.relay.isReady).toBe(false);
  await a.stop();
  await clock.advance(promisedMs);
  expect(b.relay.isLeading).toBe(false);
  b.cutOff.podLists = false;
  await clock.advance(60_000);
  expect([b.relay.isLeading, b.relay.isReady]).toEqual([true, true]);
});

/** The list of pods that was begun last: the hub applies no former one any more. */
function newestPodList() {
  const parts = lists().flatMap(({ message }) =>
    message.type === 'list' && message.kind === 'Pod' ? [message] : [],
  );
  return parts.filter((m) => m.listId === parts.at(-1)?.listId);
}

it.each([
  ['is cut off from the queue', (a: TestRelay) => void Object.assign(a.cutOff, { queue: true })],
  ['is killed', (a: TestRelay) => a.kill()],
])(
  'a relay that %s amid a list leaves it to the next leader, which lists the kind whole',
  async (_, strike) => {
    for (let i = 0; i < 60; i++) pod(`many${i}`, 'a');
    const a = start('a');
    for (let i = 0; i < 20_000 && newestPodList().length === 0; i++) await clock.advance(1);
    expect(newestPodList().some((m) => m.isLast)).toBe(false);
    strike(a);
    const b = start('b');
    await clock.advance(20_000);
    expect(b.relay.isLeading).toBe(true);
    expect(newestPodList().at(-1)).toMatchObject({ isLast: true });
    expect(newestPodList()[0]?.session).toMatch(/^b/);
    expectToldAll();
  },
);

it('a relay whose term ends amid a list notices in its next term that the history went back', async () => {
  for (let i = 0; i < 60; i++) pod(`many${i}`, 'a');
  const backup = {
    objects: [...store.list('Namespace'), ...store.list('Pod')],
    version: store.resourceVersion + 1,
  };
  pod('late', 'a');
  store.resourceVersion += 1_000;
  const a = start('a');
  for (let i = 0; i < 20_000 && newestPodList().length === 0; i++) await clock.advance(1);
  expect(newestPodList().some((m) => m.isLast)).toBe(false);
  Object.assign(a.cutOff, { queue: true, api: true });
  await clock.advance(12_000);
  expect(a.relay.isLeading).toBe(false);
  store.restore(backup.objects, backup.version);
  Object.assign(a.cutOff, { queue: false, api: false });
  await clock.advance(60_000);
  expect(a.relay.isReady).toBe(true);
  expect(sent.some(({ message }) => message.historyRewoundAtMs !== undefined)).toBe(true);
});

it('a relay that noticed that the history went back, and whose term ends before it has sent, reports it in its next term', async () => {
  pod('p0', 'a');
  const backup = {
    objects: [...store.list('Namespace'), ...store.list('Pod')],
    version: store.resourceVersion + 1,
  };
  store.resourceVersion += 1_000;
  pod('late', 'a');
  const a = start('a');
  await clock.advance(5_000);
  expect(a.relay.isReady).toBe(true);
  const before = sent.length;
  store.restore(backup.objects, backup.version);
  a.cutOff.queue = true;
  a.breakWatches();
  a.mendWatches();
  const hasSessionAgain = () => a.relay.isLeading && !a.relay.isReady;
  for (let i = 0; i < 60_000 && !hasSessionAgain(); i++) await clock.advance(1);
  expect(hasSessionAgain()).toBe(true);
  a.cutOff.api = true;
  for (let i = 0; i < 60 && a.relay.isLeading; i++) await clock.advance(1_000);
  expect(a.relay.isLeading).toBe(false);
  // The queue's last call ends.
  await clock.advance(25_000);
  expect(sent).toHaveLength(before);
  // By now the history has come as far as the hub had seen it.
  store.resourceVersion += 2_000;
  Object.assign(a.cutOff, { queue: false, api: false });
  await clock.advance(60_000);
  expect(a.relay.isReady).toBe(true);
  expect(sent.slice(before).some(({ message }) => message.historyRewoundAtMs !== undefined)).toBe(true);
});
