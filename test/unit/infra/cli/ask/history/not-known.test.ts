import { expect, it } from 'vitest';
import { whyNotKnown } from '#infra/cli/ask/history/not-known.ts';
import { cutShort, type HistoryRecord } from '#shared/controllers/history/history-record.ts';

const handedBackMs = 38_000;
const handedBack: HistoryRecord = {
  ...{ atMs: handedBackMs, endedMs: handedBackMs, untilMs: handedBackMs, generation: 7, times: 1 },
  ...{ writer: 'built-in', writes: { endpoints: 0, slices: 1 }, deletes: { endpoints: 0, slices: 1 } },
  ...{ endings: {}, notes: [], changes: [], more: 0 },
} as unknown as HistoryRecord;

const why = (unpaused: 'shadow' | 'active', sinceMs: number) =>
  whyNotKnown(
    [handedBack],
    {
      keptSinceMs: 0,
      switches: { unpaused, sinceMs, optIn: 'active' },
      hasOutputs: true,
      whyNotNow: undefined,
    },
    66_000,
  );

it('a Service that was handed back is not known while the cluster is in shadow mode', () => {
  expect(why('shadow', 19_000)).toMatch(
    /^served by the built-in controllers since .*38\.000Z \(handed back\)/,
  );
});

it('a Service that was handed back is known after a switch to active, although the first run then found nothing to write', () => {
  expect(why('active', 49_000)).toBeUndefined();
});

it.each(['built-in', 'none'] as const)(
  'a Service with the last writer %s may have been written by a run that was cut short',
  (writer) => {
    const state = {
      keptSinceMs: 0,
      switches: { unpaused: 'shadow', sinceMs: 0, optIn: 'active' } as const,
      hasOutputs: false,
      whyNotNow: undefined,
    };
    const last = { ...handedBack, writer };
    const next = { ...handedBack, atMs: 79_000, endedMs: 79_000 };
    expect(whyNotKnown([last, next], state, 66_000)).toMatch(/since .*38\.000Z/);
    expect(whyNotKnown([last, { ...next, gap: cutShort }], state, 66_000)).toBe(
      'a run was cut short, and no record has what it wrote',
    );
    expect(whyNotKnown([{ ...last, gap: cutShort }, next], state, 66_000)).toMatch(/since .*38\.000Z/);
  },
);

it.each(['built-in', 'none'] as const)(
  'a Service with the last writer %s may have been written by a run that failed since',
  (writer) => {
    const state = {
      keptSinceMs: 0,
      switches: { unpaused: 'shadow', sinceMs: 0, optIn: 'active' } as const,
      hasOutputs: false,
      whyNotNow: undefined,
    };
    const failed = {
      ...handedBack,
      writer: undefined,
      atMs: 50_000,
      endedMs: 50_000,
      writes: { endpoints: 0, slices: 0 },
    } as HistoryRecord;
    const why = (endings: HistoryRecord['endings']) =>
      whyNotKnown(
        [
          { ...handedBack, writer },
          { ...failed, endings },
        ],
        state,
        66_000,
      );
    expect(why({ slices: { kind: 'failed', text: 'connection reset' } })).toMatch(
      /^the last run before that did not complete/,
    );
    expect(why({})).toMatch(/since .*38\.000Z/);
  },
);

it('a Service whose only writer was cut short counts as written, and is not known', () => {
  const gap = { ...handedBack, writer: undefined, writes: { endpoints: 0, slices: 0 }, gap: cutShort };
  const state = {
    keptSinceMs: 0,
    switches: { unpaused: 'active', sinceMs: 0, optIn: 'off' } as const,
    hasOutputs: false,
    whyNotNow: undefined,
  };
  expect(whyNotKnown([gap], state, 66_000)).toBe('a run was cut short, and no record has what it wrote');
  const whyNotNow = 'its annotation is invalid';
  expect(whyNotKnown([gap], { ...state, whyNotNow }, 66_000)).toBe(
    'a run was cut short, and no record has what it wrote',
  );
  expect(whyNotKnown([], { ...state, whyNotNow }, 66_000)).toBe(whyNotNow);
  expect(whyNotKnown([], state, 66_000)).toBe('the hub has not written the Service');
});
