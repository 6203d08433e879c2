import { describe, expect, it } from 'vitest';
import {
  evictable,
  hasReturned,
  isFresh,
  isHalfSilent,
  type SilencePolicy,
  type Source,
  stepSources,
  type Witness,
} from '#shared/clusterset/source-state.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const heard: Witness = { isSynced: true, isPaused: false, heartbeatAtMs: nowMs - 15_000, api: 'itself' };
const gone: Witness = { ...heard, heartbeatAtMs: nowMs - 10 * minute, api: 'not' };
const evictAfter: SilencePolicy = { silence: 'evictAfter', evictAfterSeconds: 300 };
const source = (cluster: string, state: Source['state'] = 'fresh'): Source => ({
  cluster,
  state,
  sinceMs: nowMs - 20 * minute,
  isListed: false,
});

interface Beside {
  readonly state?: Source['state'];
  readonly policy?: SilencePolicy;
  /** The witness of the other clusters. */
  readonly others?: Witness;
  readonly isWhole?: boolean;
  readonly isListed?: boolean;
}

/** Steps the source `a` beside three fresh ones. */
function step(witness: Witness, { state = 'fresh', policy = evictAfter, others = heard, isWhole = true, isListed = false }: Beside = {}) {
  const beside = ['b', 'c', 'd'].map((cluster) => ({ source: source(cluster), witness: others, policy, region: undefined }));
  return stepSources({
    members: [{ source: { ...source('a', state), isListed }, witness, policy, region: undefined }, ...beside],
    isWhole,
    nowMs,
  })[0];
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

  it('a source becomes silent, with the time since when', () => {
    expect(step({ ...gone, api: 'itself' })?.source).toEqual({ ...source('a', 'silent'), sinceMs: nowMs });
    expect(step({ ...gone, api: 'itself' }, { state: 'silent' })?.source).toEqual(source('a', 'silent'));
  });

  it('a source is evicted when relay and API are both gone for long enough (MC-71)', () => {
    expect(step(gone, { state: 'silent' })?.source.state).toBe('evicted');
  });

  it.each<[string, Witness, SilencePolicy]>([
    ['the policy is to keep', gone, { ...evictAfter, silence: 'keep' }],
    ['its API answers: the relay is what is gone', { ...gone, api: 'itself' }, evictAfter],
    ['its API cannot be asked', { ...gone, api: undefined }, evictAfter],
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

  it.each(['silent', 'evicted'] as const)('a source that is %s stays so when sweep finds it fresh: its own heartbeats bring it back', (state) => {
    expect(step(heard, { state })?.source).toEqual(source('a', state));
  });

  it('an evicted source whose API answers is silent once its pods are listed: the snapshot is as old as the eviction', () => {
    const answers: Witness = { ...gone, api: 'itself' };
    expect(step(answers, { state: 'evicted' })?.source).toEqual(source('a', 'evicted'));
    expect(step(answers, { state: 'evicted', isListed: true })?.source).toEqual({ ...source('a', 'silent'), isListed: true, sinceMs: nowMs });
  });

  it.each<[string, Partial<Witness>]>([
    ['an error, or another cluster, answers', { api: 'otherwise' }],
    ['its API is not asked', { api: undefined }],
    ['its history is in doubt', { api: 'itself', isSynced: false }],
    ['an operator has paused it', { api: 'itself', isPaused: true }],
  ])('an evicted source stays so where %s', (_, more) => {
    expect(step({ ...gone, ...more }, { state: 'evicted', isListed: true })?.source.state).toBe('evicted');
  });

  it('a source has returned with the second heartbeat after its silence: the relay sends the first one before its lists', () => {
    expect(hasReturned('evicted', { ...heard, heartbeatAtMs: nowMs - 10 * minute }, nowMs)).toBe(false);
    expect(hasReturned('evicted', { ...heard, heartbeatAtMs: nowMs - 30_000 }, nowMs)).toBe(true);
    expect(hasReturned('silent', { ...heard, isSynced: false }, nowMs)).toBe(false);
    expect(hasReturned('silent', { ...heard, isPaused: true }, nowMs)).toBe(false);
    expect(hasReturned('fresh', heard, nowMs)).toBe(false);
  });

  it('the silence of a source without any heartbeat begins when sweep finds it silent', () => {
    const never: Witness = { ...gone, isSynced: false, heartbeatAtMs: 0 };
    expect(step(never)?.source.state).toBe('silent');
    expect(step(never, { state: 'silent' })?.source.state).toBe('evicted');
  });

  it.each<[string, Beside]>([
    ['fresh clusters do not answer either', { others: { ...heard, api: 'not' } }],
    ['fresh clusters do not answer either', { others: { ...heard, api: undefined } }],
    ['a record could not be read', { isWhole: false }],
  ])('an eviction is held where %s (MC-72)', (heldFor, beside) => {
    expect(step(gone, { state: 'silent', ...beside })).toEqual({ source: source('a', 'silent'), heldFor });
  });

  it('a control that answers with an error is reached', () => {
    expect(step(gone, { state: 'silent', others: { ...heard, api: 'otherwise' } })?.source.state).toBe('evicted');
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 1],
  ])('no source is evicted while %i are silent and %i are fresh: the hub itself is cut off (MC-72)', (silent, fresh) => {
    const members = Array.from({ length: silent + fresh }, (_, i) => ({
      source: source(`c${i}`, i < silent ? 'silent' : 'fresh'),
      witness: i < silent ? gone : heard,
      policy: evictAfter,
      region: undefined,
    }));
    const found = stepSources({ members, isWhole: true, nowMs });
    expect(found.map((s) => [s.source.state, s.heldFor])).toEqual(
      members.map(({ source: { state } }) => [state, state === 'silent' ? 'half of the set is silent' : undefined]),
    );
  });
});

describe('a set that is half silent', () => {
  const never: Witness = { ...gone, heartbeatAtMs: 0 };
  const paused: Witness = { ...gone, isPaused: true };

  it.each<[string, readonly (readonly [Witness, string?])[], boolean]>([
    ['half of its clusters', [[gone], [heard]], true],
    ['one of three', [[gone], [heard], [heard]], false],
    ['one of two beside clusters that are paused, or were never heard', [[gone], [heard], [heard], [never], [never], [paused]], false],
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
    ['half of its clusters, of which one has no region', [[gone, 'eu'], [heard, 'us'], [gone], [heard, 'us']], true],
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
  const serving = (cluster: string, state: Source['state'], ...serves: readonly string[]) => ({ cluster, state, serves: new Set(serves) });

  it('an evicted source goes where fresh sources serve all of its ports together', () => {
    expect(evictable([serving('a', 'evicted', 'http', 'grpc'), serving('b', 'fresh', 'http'), serving('c', 'fresh', 'grpc')])).toEqual(['a']);
  });

  it('an evicted source stays where it alone serves a port, and another one goes', () => {
    expect(evictable([serving('a', 'evicted', 'http', 'grpc'), serving('b', 'evicted', 'http'), serving('c', 'fresh', 'http')])).toEqual(['b']);
  });

  it.each(['silent', 'evicted'] as const)(
    'evicted sources stay where the other one is %s: addresses that may be dead are better than none (MC-72)',
    (state) => {
      expect(evictable([serving('a', 'evicted', 'http'), serving('b', state, 'http')])).toEqual([]);
    },
  );
});
