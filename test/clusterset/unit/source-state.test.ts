import { describe, expect, it } from 'vitest';
import {
  evictable,
  hasReturned,
  isFresh,
  isHalfSilent,
  type SourceState,
  type Witness,
} from '#shared/clusterset/imports/source-state.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const heard: Witness = { isSynced: true, isPaused: false, heartbeatAtMs: nowMs - 15_000 };
const gone: Witness = { ...heard, heartbeatAtMs: nowMs - 10 * minute };

describe('a source', () => {
  it.each<[string, Partial<Witness>]>([
    ['first lists that are missing, or a history in doubt', { isSynced: false }],
    ['a pause', { isPaused: true }],
    ['91 s without a heartbeat', { heartbeatAtMs: nowMs - 91_000 }],
  ])('a source is not fresh with %s (MC-70, MC-76)', (_, more) => {
    expect(isFresh({ ...heard, ...more }, nowMs)).toBe(false);
  });

  it('a source is fresh with a heartbeat of the last 90 s', () => {
    expect(isFresh({ ...heard, heartbeatAtMs: nowMs - 90_000 }, nowMs)).toBe(true);
  });

  it('a source has returned with the second heartbeat after its silence: the relay sends the first one before its lists', () => {
    expect(hasReturned('evicted', { ...heard, heartbeatAtMs: nowMs - 10 * minute }, nowMs)).toBe(false);
    expect(hasReturned('evicted', { ...heard, heartbeatAtMs: nowMs - 30_000 }, nowMs)).toBe(true);
    expect(hasReturned('silent', { ...heard, isSynced: false }, nowMs)).toBe(false);
    expect(hasReturned('silent', { ...heard, isPaused: true }, nowMs)).toBe(false);
    expect(hasReturned('fresh', heard, nowMs)).toBe(false);
  });
});

describe('a set that is half silent', () => {
  const never: Witness = { ...gone, heartbeatAtMs: 0 };
  const paused: Witness = { ...gone, isPaused: true };

  it.each<[string, readonly (readonly [Witness, string?])[], boolean]>([
    ['half of its clusters', [[gone], [heard]], true],
    ['one of three', [[gone], [heard], [heard]], false],
    [
      'one of two beside clusters that are paused, or were never heard',
      [[gone], [heard], [heard], [never], [never], [paused]],
      false,
    ],
    ['all that were ever heard', [[gone], [never]], true],
    [
      'one region of two',
      [
        [gone, 'eu'],
        [gone, 'eu'],
        [heard, 'us'],
      ],
      false,
    ],
    [
      'half of each region',
      [
        [gone, 'eu'],
        [heard, 'eu'],
        [gone, 'us'],
        [heard, 'us'],
      ],
      true,
    ],
    [
      'two regions of three',
      [
        [gone, 'eu'],
        [gone, 'us'],
        [heard, 'ap'],
        [heard, 'ap'],
        [heard, 'ap'],
      ],
      true,
    ],
    [
      'half of its only region',
      [
        [gone, 'eu'],
        [heard, 'eu'],
      ],
      true,
    ],
    [
      'half of its clusters, of which one has no region',
      [[gone, 'eu'], [heard, 'us'], [gone], [heard, 'us']],
      true,
    ],
  ])('%s', (_, clusters, expected) => {
    expect(
      isHalfSilent(
        clusters.map(([witness, region]) => ({ witness, region })),
        nowMs,
      ),
    ).toBe(expected);
  });
});

describe('evicted sources of one import', () => {
  const serving = (cluster: string, state: SourceState, ...serves: readonly string[]) => ({
    cluster,
    state,
    serves: new Set(serves),
  });

  it('an evicted source goes where fresh sources serve all of its ports together', () => {
    expect(
      evictable([
        serving('a', 'evicted', 'http', 'grpc'),
        serving('b', 'fresh', 'http'),
        serving('c', 'fresh', 'grpc'),
      ]),
    ).toEqual(['a']);
  });

  it('an evicted source stays where it alone serves a port, and another one goes', () => {
    expect(
      evictable([
        serving('a', 'evicted', 'http', 'grpc'),
        serving('b', 'evicted', 'http'),
        serving('c', 'fresh', 'http'),
      ]),
    ).toEqual(['b']);
  });

  it.each(['silent', 'evicted'] as const)(
    'evicted sources stay where the other one is %s: addresses that may be dead are better than none (MC-72)',
    (state) => {
      expect(evictable([serving('a', 'evicted', 'http'), serving('b', state, 'http')])).toEqual([]);
    },
  );
});
