import { beforeEach, expect, it } from 'vitest';
import { Election } from '#functions/relay/election/election.ts';
import { Relay } from '#functions/relay/relay.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/cluster-api/errors.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type MemoryLease, memoryLease } from '#test/support/lease-memory.ts';
import { memoryWatchSource } from '#test/support/watch-source-memory.ts';
import { HubModel } from './hub-model.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

const quiet: Log = { info() {}, warn() {}, error() {}, with: () => quiet };
/** From the holder's last word to the standby's first: what the documentation promises. */
const promisedMs = 10_000;

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
  /** What cannot be reached from here. */
  readonly cutOff: { api: boolean; queue: boolean };
  /** The error that the queue refuses each call with; undefined while it accepts. */
  refuseWith(error: Error | undefined): void;
  breakWatches(): void;
  mendWatches(): void;
  /** As SIGKILL. */
  kill(): void;
  stop(): Promise<void>;
}

function start(name: string, { revision = 'one', maxWaiting = 10_000 } = {}): TestRelay {
  const source = memoryWatchSource(store, { clock });
  const cutOff = { api: false, queue: false };
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
  const meter = new Meter();
  const election = new Election({ store: lease.store(call), clock, log: quiet, meter, id: name });
  const relay = new Relay(
    { source, queue, clock, log: quiet, meter, newId: () => `${name}-${++ids}`, election },
    { cluster: 'c', outputs: 'metadata', pageSize: 2, revision, outbox: { maxWaiting } },
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
  if (store.find('Pod', 'default', name)) store.patch('Pod', 'default', name, { metadata: { labels: { app } } }, 'merge');
  else store.create('Pod', 'default', { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
};
const remove = (name: string): void => void store.remove('Pod', 'default', name);
const lists = () => sent.filter(({ message }) => message.type === 'list');
const by = (name: string) => sent.filter((s) => s.by === name);

function expectToldAll(): void {
  const hub = new HubModel();
  for (const { message } of sent) hub.take(message);
  const pods = store.list('Pod').map((p) => [`default/${p.metadata.name}`, encodeProjection('Pod', p as never)]);
  expect([...hub.alive('Pod')].map(([key, e]) => [key, 'o' in e ? e.o : '']).sort()).toEqual(pods.sort());
}

/** Two relays: `a` speaks and has told everything, `b` stands by. */
async function pair(options = {}): Promise<readonly [TestRelay, TestRelay]> {
  for (const name of ['p0', 'p1', 'p2']) pod(name, 'a');
  const a = start('a', options);
  await clock.advance(500);
  const b = start('b', options);
  await clock.advance(5_000);
  expect([a.relay.isLeading, b.relay.isLeading]).toEqual([true, false]);
  expect([a.relay.isReady, b.relay.isReady]).toEqual([true, true]);
  return [a, b];
}

it('one speaks, and the other one says nothing, not even a heartbeat', async () => {
  await pair();
  pod('p3', 'b');
  await clock.advance(60_000);
  expectToldAll();
  expect(by('b')).toEqual([]);
  expect(lease.now?.holder).toBe('a');
});

it('the speaking one is killed: the other speaks in time, tells what was not told, deletions too, and lists nothing', async () => {
  const [a, b] = await pair();
  const before = lists().length;
  a.cutOff.queue = true;
  pod('p3', 'b');
  pod('p0', 'c');
  remove('p1');
  await clock.advance(100);
  a.kill();
  const killedAt = clock.now();
  await clock.advance(promisedMs);
  expect(b.relay.isLeading).toBe(true);
  expect((by('b')[0]?.at ?? Number.POSITIVE_INFINITY) - killedAt).toBeLessThan(promisedMs);
  expectToldAll();
  expect(lists()).toHaveLength(before);
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
    // What the former queue was told, this one was not.
    sent = [];
    await clock.advance(120_000);
    expect(new Set(lists().map(({ message }) => (message as { kind: string }).kind)).size).toBe(5);
    expectToldAll();
  },
);

it('the next relay lists too, where the queue was gone when the former one ended', async () => {
  const a = start('a');
  pod('p0', 'a');
  await clock.advance(10_000);
  a.refuseWith(Object.assign(new Error('no'), { name: 'QueueDoesNotExist' }));
  await clock.advance(40_000);
  await a.stop();
  await clock.advance(5_000);
  expect(lease.now).toMatchObject({ holder: '', accepted: undefined });
  sent = [];
  start('b');
  await clock.advance(20_000);
  expect(lists().length).toBeGreaterThan(0);
  expectToldAll();
});

it('what was told before the last renewal is not told again', async () => {
  const [a, b] = await pair();
  pod('p3', 'b');
  await clock.advance(5_000);
  a.kill();
  await clock.advance(promisedMs);
  expect(b.relay.isLeading).toBe(true);
  expect(by('b').filter(({ message }) => message.type !== 'heartbeat')).toEqual([]);
  expectToldAll();
});

it('the session that the standby speaks in begins where the cluster is now, or it would look like a restored one', async () => {
  const [a] = await pair();
  for (let i = 0; i < 5; i++) pod('p0', `v${i}`);
  const { resourceVersion } = store;
  await clock.advance(20_000);
  a.kill();
  await clock.advance(promisedMs);
  const [first] = by('b');
  expect(first?.message.type).toBe('heartbeat');
  expect(Number(first?.message.base)).toBeGreaterThanOrEqual(resourceVersion);
});

it('cut off from the API server the speaking one falls silent before the other speaks', async () => {
  const [a, b] = await pair();
  const before = lists().length;
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
  expect(lists()).toHaveLength(before);
});

it('cut off from the queue the speaking one gives the lease back, and the other tells what it could not', async () => {
  const [a, b] = await pair();
  const before = lists().length;
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
  expect(lists()).toHaveLength(before);
});

it('where neither reaches the queue they take turns less and less often, and tell everything as soon as one does', async () => {
  const [a, b] = await pair();
  const before = lists().length;
  a.cutOff.queue = true;
  b.cutOff.queue = true;
  pod('p3', 'b');
  await clock.advance(600_000);
  const turns = a.meter.value('relay_turns_total') + b.meter.value('relay_turns_total');
  await clock.advance(600_000);
  expect(a.meter.value('relay_turns_total') + b.meter.value('relay_turns_total') - turns).toBeLessThanOrEqual(11);
  remove('p2');
  a.cutOff.queue = false;
  b.cutOff.queue = false;
  await clock.advance(60_000);
  expectToldAll();
  expect(lists()).toHaveLength(before);
});

it('told to stop, the speaking one sends what waits and hands over at once', async () => {
  const [a, b] = await pair();
  const before = lists().length;
  pod('p3', 'b');
  await a.stop();
  const toldAt = clock.now();
  await clock.advance(2_500);
  expect(b.relay.isLeading).toBe(true);
  expect((by('b')[0]?.at ?? Number.POSITIVE_INFINITY) - toldAt).toBeLessThan(2_500);
  expectToldAll();
  expect(lists()).toHaveLength(before);
});

it('a relay that has just started leaves a free lease to one that is ready', async () => {
  const [a, b] = await pair();
  const before = lists().length;
  await a.stop();
  const c = start('c');
  await clock.advance(2_500);
  expect([b.relay.isLeading, c.relay.isLeading]).toEqual([true, false]);
  expect(lists()).toHaveLength(before);
});

it('one relay alone, killed and started again, goes on where the queue had accepted', async () => {
  for (const name of ['p0', 'p1', 'p2']) pod(name, 'a');
  const a = start('a');
  await clock.advance(5_000);
  const before = lists().length;
  a.kill();
  remove('p1');
  pod('p3', 'b');
  const b = start('b');
  await clock.advance(promisedMs);
  expect(b.relay.isLeading).toBe(true);
  expectToldAll();
  expect(lists()).toHaveLength(before);
});

it('killed amid its first lists: the other one lists everything', async () => {
  for (let i = 0; i < 9; i++) pod(`p${i}`, 'a');
  const a = start('a');
  await clock.advance(30);
  const b = start('b');
  await clock.advance(20);
  a.kill();
  await clock.advance(15_000);
  expect([b.relay.isLeading, b.relay.isReady]).toEqual([true, true]);
  expectToldAll();
  expect(new Set(by('b').flatMap(({ message }) => (message.type === 'list' ? [message.kind] : []))).size).toBe(5);
});

it('a relay of another revision does not go on where the former ended: it lists', async () => {
  const [a, b] = await pair();
  const c = start('c', { revision: 'two' });
  await clock.advance(5_000);
  expect(c.relay.isReady).toBe(true);
  b.kill();
  await a.stop();
  await clock.advance(10_000);
  expect([c.relay.isLeading, c.relay.isReady]).toEqual([true, true]);
  expect(new Set(by('c').flatMap(({ message }) => (message.type === 'list' ? [message.kind] : []))).size).toBe(5);
  expectToldAll();
});

it('a standby that was told nothing in a minute reads its lists by itself, and sends them when its turn comes', async () => {
  pod('p0', 'a');
  const a = start('a');
  a.cutOff.queue = true;
  await clock.advance(500);
  const b = start('b');
  b.cutOff.queue = true;
  await clock.advance(200_000);
  expect([a.relay.isReady, b.relay.isReady]).toContain(true);
  a.cutOff.queue = false;
  b.cutOff.queue = false;
  await clock.advance(120_000);
  expectToldAll();
  expect(lists().length).toBeGreaterThanOrEqual(5);
});

it('a standby that can hold no more of what the other has not sent owes a list instead, and sends it when it speaks', async () => {
  const [a, b] = await pair({ maxWaiting: 10 });
  a.cutOff.queue = true;
  b.cutOff.queue = true;
  for (let i = 0; i < 25; i++) pod(`many${i}`, 'a');
  remove('p1');
  await clock.advance(500);
  a.kill();
  await clock.advance(promisedMs);
  b.cutOff.queue = false;
  await clock.advance(60_000);
  expect(b.relay.isReady).toBe(true);
  expect(by('b').some(({ message }) => message.type === 'list' && message.kind === 'Pod')).toBe(true);
  expectToldAll();
});

/** The standby's watches were broken for two minutes and could be opened again; now the leader is killed. */
async function standbyAfterLongCut(): Promise<TestRelay> {
  const [a, b] = await pair();
  b.breakWatches();
  await clock.advance(120_000);
  b.mendWatches();
  a.kill();
  return b;
}

it('a standby whose watches wait to be opened again opens them as soon as its turn begins', async () => {
  const b = await standbyAfterLongCut();
  pod('p3', 'b');
  remove('p1');
  await clock.advance(promisedMs);
  expect(b.relay.isLeading).toBe(true);
  expectToldAll();
});

it('a standby that was cut off for long waits no longer than a fresh one where a watch breaks as its turn begins', async () => {
  const b = await standbyAfterLongCut();
  for (let i = 0; i < promisedMs && by('b').length === 0; i++) await clock.advance(1);
  b.breakWatches();
  await clock.advance(500);
  b.mendWatches();
  pod('p4', 'b');
  await clock.advance(3_000);
  expectToldAll();
});

/** The list of pods that was begun last: the hub applies no former one any more. */
function newestPodList() {
  const parts = lists().flatMap(({ message }) => (message.type === 'list' && message.kind === 'Pod' ? [message] : []));
  return parts.filter((m) => m.listId === parts.at(-1)?.listId);
}

/** `b` speaks and has begun a list of the pods; `c`, which had heard the relay before `b`, owes none. */
async function amidList(): Promise<readonly [TestRelay, TestRelay]> {
  const [a, b] = await pair({ maxWaiting: 10 });
  const c = start('c');
  await clock.advance(5_000);
  expect(c.relay.isReady).toBe(true);
  a.cutOff.queue = true;
  for (let i = 0; i < 60; i++) pod(`many${i}`, 'a');
  await clock.advance(500);
  a.kill();
  const begun = (): boolean => newestPodList()[0]?.session.startsWith('b') === true;
  for (let i = 0; i < 20_000 && !begun(); i++) await clock.advance(1);
  expect(newestPodList().some((m) => m.last)).toBe(false);
  return [b, c];
}

it.each([
  ['is cut off from the queue', (b: TestRelay) => void Object.assign(b.cutOff, { queue: true })],
  ['is killed', (b: TestRelay) => b.kill()],
])('a relay that %s amid a list leaves it to the next one, which lists the kind too', async (_, strike) => {
  const [b, c] = await amidList();
  strike(b);
  await clock.advance(20_000);
  expect(c.relay.isLeading).toBe(true);
  expect(newestPodList().at(-1)).toMatchObject({ last: true });
  expect(newestPodList()[0]?.session).toMatch(/^c/);
  expectToldAll();
});
