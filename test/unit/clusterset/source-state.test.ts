import { describe, expect, it } from 'vitest';
import { evictable, hasReturned, isFresh, type SilencePolicy, type Source, stepSources, type Witness } from '#shared/clusterset/source-state.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const heard: Witness = { isSynced: true, isPaused: false, heartbeatAtMs: nowMs - 15_000, apiAnswers: true };
const gone: Witness = { ...heard, heartbeatAtMs: nowMs - 10 * minute, apiAnswers: false };
const evictAfter: SilencePolicy = { silence: 'evictAfter', evictAfterSeconds: 300 };
const source = (cluster: string, state: Source['state'] = 'fresh'): Source => ({ cluster, state, sinceMs: nowMs - 20 * minute });

/** Decides the state of the source among three fresh ones. */
function step(witness: Witness, { state = 'fresh', policy = evictAfter }: { state?: Source['state']; policy?: SilencePolicy } = {}) {
  const others = ['b', 'c', 'd'].map((cluster) => ({ source: source(cluster), witness: heard, policy }));
  return stepSources({ members: [{ source: source('a', state), witness, policy }, ...others], nowMs })[0];
}

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

  it('a source becomes silent, with the time', () => {
    expect(step({ ...gone, apiAnswers: true })?.source).toEqual({ cluster: 'a', state: 'silent', sinceMs: nowMs });
    expect(step({ ...gone, apiAnswers: true }, { state: 'silent' })?.source).toEqual(source('a', 'silent'));
  });

  it('a source is evicted when relay and API are both gone for long enough (MC-71)', () => {
    expect(step(gone, { state: 'silent' })?.source.state).toBe('evicted');
  });

  it.each<[string, Witness, SilencePolicy]>([
    ['the policy is to keep', gone, { ...evictAfter, silence: 'keep' }],
    ['its API answers: the relay is what is gone', { ...gone, apiAnswers: true }, evictAfter],
    ['its API cannot be asked', { ...gone, apiAnswers: undefined }, evictAfter],
    ['it is silent for too short a time', { ...gone, heartbeatAtMs: nowMs - 299_000 }, evictAfter],
    [
      'it is silent for less than any source may be, whatever the policy says',
      { ...gone, heartbeatAtMs: nowMs - 80_000, isSynced: false },
      { ...evictAfter, evictAfterSeconds: 1 },
    ],
    ['an operator has paused it', { ...gone, isPaused: true }, evictAfter],
  ])('a source is not evicted where %s', (_, witness, policy) => {
    expect(step(witness, { state: 'silent', policy })?.source.state).toBe('silent');
  });

  it.each(['silent', 'evicted'] as const)('a source that is %s stays so for sweep: its own heartbeats bring it back', (state) => {
    expect(step({ ...gone, apiAnswers: true }, { state })?.source).toEqual(source('a', state));
    expect(step(heard, { state })?.source).toEqual(source('a', state));
  });

  it('a source has returned with the second heartbeat after its silence: the relay sends the first one before its lists', () => {
    expect(hasReturned('evicted', { ...heard, heartbeatAtMs: nowMs - 10 * minute }, nowMs)).toBe(false);
    expect(hasReturned('evicted', { ...heard, heartbeatAtMs: nowMs - 30_000 }, nowMs)).toBe(true);
    expect(hasReturned('silent', { ...heard, isSynced: false }, nowMs)).toBe(false);
    expect(hasReturned('silent', { ...heard, isPaused: true }, nowMs)).toBe(false);
    expect(hasReturned('fresh', heard, nowMs)).toBe(false);
  });

  it('a source is not evicted while more than half of the set is silent, because the hub is at fault then (MC-72)', () => {
    const sources = ['a', 'b', 'c'].map((cluster) => ({ source: source(cluster, 'silent'), witness: gone, policy: evictAfter }));
    const all = [...sources, { source: source('d'), witness: heard, policy: evictAfter }];
    expect(stepSources({ members: all, nowMs }).map((s) => [s.source.state, s.heldFor])).toEqual([
      ['silent', 'half the set is silent'],
      ['silent', 'half the set is silent'],
      ['silent', 'half the set is silent'],
      ['fresh', undefined],
    ]);
  });

  it('a source is evicted while exactly half of the set is silent', () => {
    const members = [
      { source: source('a', 'silent'), witness: gone, policy: evictAfter },
      { source: source('b'), witness: heard, policy: evictAfter },
    ];
    expect(stepSources({ members, nowMs })[0]?.source.state).toBe('evicted');
  });
});

describe('evicted sources of one import', () => {
  it('evicted sources go where a fresh source has a ready endpoint', () => {
    expect(
      evictable([
        { cluster: 'a', state: 'evicted', ready: 0 },
        { cluster: 'b', state: 'fresh', ready: 1 },
      ]),
    ).toEqual(['a']);
  });

  it.each([
    ['fresh', 0],
    ['silent', 5],
    ['evicted', 5],
  ] as const)(
    'evicted sources stay where the other one is %s with %i ready endpoints: addresses that may be dead are better than none (MC-72)',
    (state, ready) => {
      expect(
        evictable([
          { cluster: 'a', state: 'evicted', ready: 0 },
          { cluster: 'b', state, ready },
        ]),
      ).toEqual([]);
    },
  );
});
