import { expect, it } from 'vitest';
import type { HistoryRecord } from '#shared/history/history-record.ts';
import { whyNotKnown } from '#shared/history/not-known.ts';

const handedBackMs = 38_000;
const handedBack: HistoryRecord = {
  ...{ atMs: handedBackMs, endedMs: handedBackMs, untilMs: handedBackMs, generation: 7, times: 1 },
  ...{ writer: 'built-in', writes: { endpoints: 0, slices: 1 }, deletes: { endpoints: 0, slices: 1 } },
  ...{ endings: {}, notes: [], changes: [], more: 0 },
} as unknown as HistoryRecord;

const why = (unpaused: string, sinceMs: number) =>
  whyNotKnown([handedBack], { keptSinceMs: 0, switches: { unpaused, sinceMs, optIn: 'active' }, hasOutputs: true, whyNotNow: undefined }, 66_000);

it('a Service that was handed back is not known while the cluster is in shadow mode', () => {
  expect(why('shadow', 19_000)).toMatch(/^served by the built-in controllers since .*38\.000Z \(handed back\)/);
});

it('a Service that was handed back is known after a switch to active, although the first run then found nothing to write', () => {
  expect(why('active', 49_000)).toBeUndefined();
});

it('a Service whose only writer was cut short counts as written, and is not known', () => {
  const gap = { ...handedBack, writer: undefined, writes: { endpoints: 0, slices: 0 }, gap: 'a run before this one was cut short' };
  const standing = { keptSinceMs: 0, switches: { unpaused: 'active', sinceMs: 0, optIn: 'off' }, hasOutputs: false, whyNotNow: undefined };
  expect(whyNotKnown([gap], standing, 66_000)).toBe('a run was cut short, and no record has what it wrote');
  expect(whyNotKnown([], standing, 66_000)).toBe('the hub has not written the Service');
});
