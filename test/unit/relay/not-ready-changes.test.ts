import { beforeEach, expect, it } from 'vitest';
import { NotReadyChanges } from '#functions/relay/projection/not-ready-changes.ts';
import { manualClock } from '#test/worlds/relay/manual-clock.ts';

let clock: ReturnType<typeof manualClock>;
let changes: NotReadyChanges;
let sent: string[];
const entry = (notReady?: string) => ({
  ...{ namespace: 'ns', name: 'p', resourceVersion: '1', projection: '[]' },
  ...(notReady !== undefined && { notReady }),
});
const see = (notReady?: string, key = 'ns/p'): void => changes.seen(key, entry(notReady));

beforeEach(() => {
  clock = manualClock();
  sent = [];
  changes = new NotReadyChanges(
    { clock },
    (key, { notReady = 'nothing' }) => void sent.push(`${key} ${notReady}`),
  );
});

it('a change is gathered for 30 s, and sent in its newest state', async () => {
  changes.sent('ns/p', entry('a'));
  await clock.advance(60_000);
  see('b');
  await clock.advance(20_000);
  see('c');
  await clock.advance(9_999);
  expect(sent).toEqual([]);
  await clock.advance(1);
  expect(sent).toEqual(['ns/p c']);
});

it('a change that is back within 30 s is not sent', async () => {
  changes.sent('ns/p', entry('a'));
  await clock.advance(60_000);
  see('b');
  await clock.advance(29_999);
  see('a');
  await clock.advance(600_000);
  expect(sent).toEqual([]);
});

it('a pod is sent at most once a minute, also after a change of its projection', async () => {
  changes.sent('ns/p', entry('a'));
  see('b');
  await clock.advance(59_999);
  expect(sent).toEqual([]);
  await clock.advance(1);
  see('c');
  await clock.advance(59_999);
  expect(sent).toEqual(['ns/p b']);
  await clock.advance(1);
  expect(sent).toEqual(['ns/p b', 'ns/p c']);
});

it('a change of the projection has the text with it, and ends what is gathered', async () => {
  see('b');
  changes.sent('ns/p', entry());
  await clock.advance(600_000);
  see();
  await clock.advance(600_000);
  expect(sent).toEqual([]);
});

it('the end of all reasons is sent too', async () => {
  changes.sent('ns/p', entry('a'));
  see();
  await clock.advance(60_000);
  expect(sent).toEqual(['ns/p nothing']);
});

it('what the bounds leave out, and what is forgotten, is not sent', async () => {
  for (let i = 0; i < 2_001; i++) see('a', `ns/${i}`);
  changes.forget('ns/0');
  await clock.advance(60_000);
  expect(sent).toHaveLength(1_999);
  expect(sent.at(-1)).toBe('ns/1999 a');
  see('b', 'ns/1');
  changes.clear();
  await clock.advance(600_000);
  expect(sent).toHaveLength(1_999);
});
