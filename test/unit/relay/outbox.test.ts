import { expect, it } from 'vitest';
import { Outbox } from '#functions/relay/outbox/outbox.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { defaultLimits, type RelayLimits } from '#shared/contract/limits.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { Entry, LiveMessage, OutputEntry } from '#shared/queue/messages.ts';
import { SendError } from '#shared/queue/port.ts';
import type { Fields, Log } from '#shared/telemetry/port.ts';
import { manualClock } from '#test/worlds/relay/manual-clock.ts';

const header = { v: 1, cluster: 'c', session: 's', uid: 'u', firstListVersion: '1' };
const logged: Fields[] = [];
const quiet: Log = {
  info() {},
  warn() {},
  error: (message, fields) => void logged.push({ message, ...fields }),
  with: () => quiet,
};
const never = new AbortController().signal;

function outbox({ sendMs = 10, ...relay }: Partial<RelayLimits> & { readonly sendMs?: number } = {}) {
  const clock = manualClock();
  const meter = new Meter();
  const sent: LiveMessage[] = [];
  /** Messages of each call. */
  const calls: number[] = [];
  const queue = {
    refuse: false,
    never: (_: LiveMessage): boolean => false,
    async send(messages: readonly { readonly body: string }[]) {
      calls.push(messages.length);
      await new Promise<void>((resolve) => clock.after(sendMs, resolve));
      if (queue.refuse) throw new Error('out of reach');
      const refused = messages.filter((m) => queue.never(decodeMessage(m.body) as LiveMessage));
      sent.push(
        ...messages.filter((m) => !refused.includes(m)).map((m) => decodeMessage(m.body) as LiveMessage),
      );
      if (refused.length > 0) throw new SendError('refused', refused.slice(0, 1));
    },
  };
  const box = new Outbox(
    {
      queue,
      clock,
      log: quiet,
      meter,
      limits: { ...defaultLimits, relay: { ...defaultLimits.relay, ...relay } },
    },
    header,
    () => '7',
  );
  return { box, clock, meter, queue, sent, calls };
}

const entry = (name: string, rv: number, projection = `["${rv}"]`): Entry => ({
  namespace: 'n',
  name,
  resourceVersion: String(rv),
  projection,
});
const slice = (rv: number, service: string, formerService?: string): OutputEntry => ({
  namespace: 'n',
  name: 's',
  resourceVersion: String(rv),
  uid: 'u',
  service,
  ...(formerService && { formerService }),
});
const names = (m: LiveMessage | undefined) => m?.entries.map((e) => `${e.name}@${e.resourceVersion}`);

it('after a quiet time what comes is sent at once, and what came in one go is sent together', async () => {
  const { box, clock, calls } = outbox();
  for (const version of [2, 4]) {
    box.put('Pod', 'n/a', entry('a', version));
    box.put('Pod', 'n/b', entry('b', version + 1));
    await clock.advance(0);
    expect(calls).toHaveLength(version / 2);
    await clock.advance(200);
  }
});

it('the outbox gathers for 20 ms after a send where little comes, however quick the queue is', async () => {
  const { box, clock, sent } = outbox({ sendMs: 1 });
  box.put('Pod', 'n/a', entry('a', 2));
  await clock.advance(1);
  for (let i = 0; i < 4; i++) {
    box.put('Pod', `n/p${i}`, entry(`p${i}`, 3 + i));
    await clock.advance(4);
  }
  await clock.advance(20);
  expect(sent.map((m) => m.entries.length)).toEqual([1, 4]);
});

/** Messages a second and changes a message, once the rate has been the same for some seconds. */
async function steady(
  changesASecond: number,
): Promise<{ readonly messages: number; readonly filled: number }> {
  const { box, clock, sent } = outbox({ sendMs: 1 });
  let before = 0;
  for (let i = 0; i < changesASecond * 8; i++) {
    box.put('Pod', `n/p${i}`, entry(`p${i}`, 2 + i));
    await clock.advance(1000 / changesASecond);
    if (i === changesASecond * 4) before = sent.length;
  }
  const messages = sent.slice(before);
  return {
    messages: messages.length / 4,
    filled: messages.reduce((sum, m) => sum + m.entries.length, 0) / messages.length,
  };
}

it('the window for which the outbox gathers grows with the rate of changes, so that messages are filled and do not become more', async () => {
  const [at20, at100, at500] = [await steady(20), await steady(100), await steady(500)];
  expect(at20.filled).toBe(1);
  expect(at100.messages).toBeLessThan(13);
  expect(at100.filled).toBeGreaterThan(7);
  expect(at500.messages).toBeLessThan(13);
  expect(at500.filled).toBeGreaterThan(35);
});

it('echoes of sync’s writes are gathered for longer, and delay no other entry', async () => {
  const { box, clock, sent } = outbox();
  box.put('EndpointSlice', 'n/s', slice(2, 'b'));
  await clock.advance(20);
  for (let i = 0; i < 9; i++) {
    box.put('EndpointSlice', 'n/s', slice(3 + i, 'b'));
    box.put('Pod', 'n/a', entry('a', 3 + i));
    await clock.advance(100);
  }
  expect(sent.map((m) => m.kind)).toEqual(['EndpointSlice', ...Array.from({ length: 9 }, () => 'Pod')]);
  await clock.advance(200);
  expect(sent.filter((m) => m.kind === 'EndpointSlice').map(names)).toEqual([['s@2'], ['s@11']]);
});

it('a kind that has whole messages again and again does not keep the others waiting', async () => {
  const { box, clock, sent } = outbox();
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 200; i++) box.put('Pod', `n/p${i}`, entry(`p${i}`, 2 + round * 200 + i));
    await clock.advance(50);
    if (round === 0) box.put('Service', 'n/a', entry('a', 2));
    await clock.advance(100);
  }
  expect(sent.slice(0, 3).map((m) => m.kind)).toContain('Service');
});

it('a clock that is set back delays no entry', async () => {
  const { box, clock, sent } = outbox();
  box.put('Pod', 'n/a', entry('a', 2));
  await clock.advance(300);
  const { now } = clock;
  Object.assign(clock, { now: () => now() - 3_600_000 });
  box.put('Pod', 'n/a', entry('a', 3));
  await clock.advance(300);
  expect(sent.map(names)).toEqual([['a@2'], ['a@3']]);
});

it('a slow send does not hold back what comes after it', async () => {
  const { box, clock, calls } = outbox({ sendMs: 5_000 });
  box.put('Pod', 'n/a', entry('a', 2));
  await clock.advance(1);
  box.put('Pod', 'n/b', entry('b', 3));
  await clock.advance(18);
  expect(calls).toHaveLength(1);
  await clock.advance(2);
  expect(calls).toHaveLength(2);
});

it('only the newest state of an object is sent, as of the newest version that had been read', async () => {
  const { box, clock, sent } = outbox();
  box.put('Pod', 'n/a', entry('a', 2));
  box.put('Pod', 'n/b', entry('b', 3));
  box.put('Pod', 'n/a', entry('a', 4));
  await clock.advance(20);
  expect(sent).toHaveLength(1);
  expect(names(sent[0])).toEqual(['b@3', 'a@4']);
  expect(sent[0]).toMatchObject({ ...header, type: 'live', kind: 'Pod', asOf: '7' });
});

it('a message holds at most 200 objects and about 32 KB', async () => {
  const { box, clock, sent } = outbox();
  for (let i = 0; i < 450; i++) box.put('Pod', `n/p${i}`, entry(`p${i}`, 2 + i));
  box.put('Service', 'n/large', entry('large', 2, JSON.stringify(['x'.repeat(40_000)])));
  box.put('Service', 'n/other', entry('other', 3));
  await clock.advance(250);
  expect(sent.filter((m) => m.kind === 'Pod').map((m) => m.entries.length)).toEqual([200, 200, 50]);
  expect(sent.filter((m) => m.kind === 'Service').map(names)).toEqual([['large@2'], ['other@3']]);
});

it('a live message is less than 1 MiB before compression for any object', async () => {
  const { box, clock, sent } = outbox();
  // Each quotation mark of the projection's text is two characters in the message's.
  box.put('Service', 'n/quotes', entry('quotes', 2, '"'.repeat(256 * 1024)));
  box.put('EndpointSlice', 'n/s', { ...slice(2, 'a'), object: { text: 'x'.repeat(999_000) } });
  await clock.advance(20);
  expect(sent).toHaveLength(2);
  for (const message of sent) expect(JSON.stringify(message).length).toBeLessThan(1024 * 1024);
});

it('ten minutes without the queue: memory stays bounded, nothing is lost, and the newest states arrive', async () => {
  const { box, clock, queue, sent, calls } = outbox({ maxWaiting: 1_000 });
  queue.refuse = true;
  let version = 1;
  const newest = new Map<string, string>();
  let maxWaiting = 0;
  let blocked = false;
  const end = clock.now() + 600_000;
  while (clock.now() < end) {
    for (let i = 0; i < 500 && !box.isFull; i++) {
      const name = `p${version % 3_000}`;
      box.put('Pod', `n/${name}`, entry(name, ++version));
      newest.set(name, String(version));
    }
    maxWaiting = Math.max(maxWaiting, box.waiting);
    blocked ||= box.isFull;
    await clock.advance(1_000);
  }
  expect(blocked).toBe(true);
  expect(maxWaiting).toBeLessThanOrEqual(1_000);
  // Four sends at most are under way, and each backs off up to 30 s.
  expect(calls.length).toBeLessThan(250);
  const room = box.waitForRoom(never);
  queue.refuse = false;
  await clock.advance(60_000);
  await room;
  const arrived = new Map<string, string>();
  for (const { name, resourceVersion: rv } of sent.flatMap((m) => m.entries))
    if (BigInt(arrived.get(name) ?? 0) < BigInt(rv)) arrived.set(name, rv);
  expect(arrived).toEqual(newest);
});

it('the waiting entries are bounded in bytes too', () => {
  const { box } = outbox({ maxWaitingBytes: 100_000 });
  for (let i = 0; i < 5; i++) box.put('Pod', `n/p${i}`, entry(`p${i}`, 2 + i, 'x'.repeat(25_000)));
  expect(box.isFull).toBe(true);
});

it('a slice that moves twice before it is sent comes from where it first was', async () => {
  const { box, clock, sent } = outbox();
  box.put('EndpointSlice', 'n/s', slice(2, 'b', 'a'));
  box.put('EndpointSlice', 'n/s', slice(3, 'c', 'b'));
  await clock.advance(1_100);
  box.put('EndpointSlice', 'n/s', slice(4, 'd', 'c'));
  box.put('EndpointSlice', 'n/s', slice(5, 'c', 'd'));
  await clock.advance(20);
  expect(sent.flatMap((m) => m.entries)).toEqual([slice(3, 'c', 'a'), slice(5, 'c')]);
});

it('a slice that is deleted and made again for another service within a window is gone from the former one', async () => {
  const { box, clock, sent } = outbox();
  box.put('EndpointSlice', 'n/s', slice(2, 'a'));
  await clock.advance(0);
  box.put('EndpointSlice', 'n/s', { ...slice(3, 'a'), deleted: true });
  box.put('EndpointSlice', 'n/s', slice(4, 'b'));
  await clock.advance(2_000);
  box.put('EndpointSlice', 'n/s', slice(5, 'c', 'b'));
  box.put('EndpointSlice', 'n/s', { ...slice(6, 'c'), deleted: true });
  box.put('EndpointSlice', 'n/s', slice(7, 'b'));
  await clock.advance(2_000);
  expect(sent.flatMap((m) => m.entries)).toEqual([slice(2, 'a'), slice(4, 'b', 'a'), slice(7, 'b')]);
});

it('the outbox is quiet when nothing of the kind waits any more, though a send may be under way', async () => {
  const { box, clock } = outbox();
  box.put('Pod', 'n/a', entry('a', 2));
  let isQuiet = false;
  void box.waitUntilEmpty('Pod', never).then(() => {
    isQuiet = true;
  });
  await Promise.resolve();
  expect(isQuiet).toBe(false);
  await clock.advance(1);
  expect(isQuiet).toBe(true);
});

it('a message that the queue will never take is named and left out, and what comes after it is sent', async () => {
  const { box, clock, meter, queue, sent } = outbox();
  logged.length = 0;
  queue.never = (m) => m.entries.some((e) => e.name.startsWith('bad'));
  box.put('Service', 'n/bad', entry('bad', 2));
  box.put('Pod', 'n/bad-too', entry('bad-too', 2));
  box.put('EndpointSlice', 'n/s', slice(2, 'a'));
  await clock.advance(250);
  box.put('Pod', 'n/good', entry('good', 3));
  await clock.advance(250);
  expect(new Set(sent.flatMap((m) => names(m) ?? []))).toEqual(new Set(['s@2', 'good@3']));
  expect(logged.map(({ message: _, ...l }) => l)).toMatchObject([
    { type: 'live', kind: 'Service', entries: 1, keys: ['n/bad'] },
    { type: 'live', kind: 'Pod', entries: 1, keys: ['n/bad-too'] },
  ]);
  expect(meter.value('relay_refused_total')).toBe(2);
  expect(meter.value('relay_queue_errors_total')).toBe(0);
});

it('a part of a list that the queue will never take does not hold up the list’s other parts', async () => {
  const { box, clock, meter, queue, sent } = outbox();
  queue.never = (m) => m.entries.some((e) => e.name === 'bad');
  const part = (name: string) =>
    JSON.stringify({
      ...header,
      type: 'list',
      kind: 'Pod',
      asOf: '9',
      from: '',
      to: '',
      entries: [entry(name, 2)],
    });
  const delivered = box.deliver(['a', 'bad', 'b'].map(part));
  await clock.advance(100);
  await delivered;
  expect(new Set(sent.flatMap((m) => m.entries.map((e) => e.name)))).toEqual(new Set(['a', 'b']));
  expect(meter.value('relay_refused_total')).toBe(1);
});

it('a closed outbox sends nothing more and releases its callers', async () => {
  const { box, clock, queue, calls } = outbox();
  queue.refuse = true;
  box.put('Pod', 'n/a', entry('a', 2));
  await clock.advance(20);
  const delivery = box.deliver(['{}']);
  box.close();
  await expect(Promise.all([delivery, clock.advance(100)])).rejects.toThrow('closed');
  const { length } = calls;
  await clock.advance(60_000);
  expect(calls).toHaveLength(length);
});

it('echoes wait ten seconds for others, and are sent at once with any other entry', async () => {
  const { box, clock, sent } = outbox({ sendMs: 1 });
  box.put('EndpointSlice', 'n/a', { ...slice(2, 'a'), name: 'a' }, true);
  await clock.advance(6_000);
  box.put('EndpointSlice', 'n/b', { ...slice(3, 'b'), name: 'b' }, true);
  await clock.advance(3_900);
  expect(sent).toEqual([]);
  await clock.advance(200);
  expect(sent.map(names)).toEqual([['a@2', 'b@3']]);
  box.put('EndpointSlice', 'n/c', { ...slice(4, 'c'), name: 'c' }, true);
  await clock.advance(3_000);
  box.put('EndpointSlice', 'n/d', { ...slice(5, 'd'), name: 'd' });
  await clock.advance(10);
  expect(sent.map(names)).toEqual([
    ['a@2', 'b@3'],
    ['c@4', 'd@5'],
  ]);
});

it.each([
  ['the relay stops', (box: Outbox) => box.waitUntilDrained(never)],
  ['the kind is to be listed', (box: Outbox) => box.waitUntilEmpty('EndpointSlice', never)],
])('echoes do not wait for others where %s', async (_, until) => {
  const { box, clock, sent } = outbox({ sendMs: 1 });
  box.put('EndpointSlice', 'n/a', { ...slice(2, 'a'), name: 'a' }, true);
  let isOver = false;
  void until(box).then(() => {
    isOver = true;
  });
  await clock.advance(10);
  expect(sent.map(names)).toEqual([['a@2']]);
  expect(isOver).toBe(true);
});

it('echoes that fill the outbox do not wait for others: the relay reads on', async () => {
  const { box, clock, sent } = outbox({ sendMs: 1, maxWaiting: 1 });
  box.put('EndpointSlice', 'n/a', { ...slice(2, 'a'), name: 'a' }, true);
  expect(box.isFull).toBe(true);
  const room = box.waitForRoom(never);
  await clock.advance(10);
  await room;
  expect(sent.map(names)).toEqual([['a@2']]);
});

it('a state for answers alone waits for other entries, and takes over the urgency of the one that it replaces', async () => {
  const { box, clock, sent } = outbox();
  const at = (version: number) => ({ ...entry('p', version), observedAtMs: version });
  const { observedAtMs: _, ...late } = at(3);
  box.putForAnswers('Pod', 'n/p', late);
  await clock.advance(9_000);
  expect(sent).toEqual([]);
  box.put('Pod', 'n/q', entry('q', 4));
  await clock.advance(20);
  expect(sent.map((m) => m.entries.map(({ name }) => name))).toEqual([['p', 'q']]);
  box.put('Pod', 'n/p', at(5));
  box.putForAnswers('Pod', 'n/p', { ...late, resourceVersion: '6' });
  await clock.advance(200);
  expect(sent[1]?.entries).toEqual([{ ...late, resourceVersion: '6', observedAtMs: 5 }]);
});
