import { describe, expect, it } from 'vitest';
import { type IdentityAnswer, stepSources } from '#functions/clusterset/sweep/source-steps.ts';
import { type ClusterRecord, decodeCluster } from '#shared/clusters/record.ts';
import { type ClustersetMembership, noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import type { SourceState } from '#shared/clusterset/imports/source-state.ts';
import { encodeSource } from '#shared/clusterset/membership/source-record.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const sinceMs = nowMs - 20 * minute;

interface Found {
  readonly isSynced?: boolean;
  readonly isPaused?: boolean;
  readonly heartbeatAtMs?: number;
  /** Undefined: sweep did not ask. */
  readonly api: IdentityAnswer | undefined;
}

const heard: Found = { heartbeatAtMs: nowMs - 15_000, api: 'itself' };
const gone: Found = { heartbeatAtMs: nowMs - 10 * minute, api: 'not' };
type Policy = Pick<ClustersetMembership, 'evictAfterSeconds'>;
const evictAfter: Policy = { evictAfterSeconds: 300 };

interface Beside {
  readonly state?: SourceState;
  readonly policy?: Policy;
  /** Facts of the other clusters. */
  readonly others?: Found;
  readonly isWhole?: boolean;
  readonly isListed?: boolean;
}

function record(
  id: string,
  { isSynced = true, isPaused = false, heartbeatAtMs = 0 }: Found,
  beside: Beside = {},
): ClusterRecord {
  const { state = 'fresh', policy = evictAfter, isListed } = beside;
  const lists = isSynced
    ? Object.fromEntries(
        ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice'].map((kind) => [`firstList_${kind}`, 1]),
      )
    : {};
  const known = decodeCluster(id, { pk: '', sk: '', mode: isPaused ? 'paused' : 'active', inc: 1, ...lists });
  return {
    ...known,
    clusterset: JSON.stringify({ ...noMembership, ...policy }),
    source: encodeSource({ state, sinceMs, ...(isListed && { answers: true }) }),
    relay: { ...known.relay, heartbeatAtMs },
  };
}

/** Steps the source `a` beside three fresh ones. */
function step(found: Found, beside: Beside = {}) {
  const { others = heard, isWhole = true } = beside;
  const facts = new Map([['a', found], ...['b', 'c', 'd'].map((id) => [id, others] as const)]);
  const members = [...facts].map(([id, of]) => record(id, of, id === 'a' ? beside : {}));
  return stepSources(members, { answers: answersIn(facts), isWhole, nowMs }).get('a');
}

const answersIn = (facts: ReadonlyMap<string, Found>): ReadonlyMap<string, IdentityAnswer> =>
  new Map([...facts].flatMap(([id, { api }]) => (api ? [[id, api] as const] : [])));

describe('a source', () => {
  it('a source becomes silent, with the time since when', () => {
    expect(step({ ...gone, api: 'itself' })).toEqual({ state: 'silent', sinceMs: nowMs });
    expect(step({ ...gone, api: 'itself' }, { state: 'silent' })).toEqual({ state: 'silent', sinceMs });
  });

  it('a source is evicted when relay and API are both gone for long enough (MC-71)', () => {
    expect(step(gone, { state: 'silent' })).toEqual({ state: 'evicted', sinceMs: nowMs });
  });

  it.each<[string, Found, Policy]>([
    ['the set evicts none', gone, {}],
    ['its API answers: the relay is what is gone', { ...gone, api: 'itself' }, evictAfter],
    ['its API cannot be asked', { ...gone, api: undefined }, evictAfter],
    ['it is silent for too short a time', { ...gone, heartbeatAtMs: nowMs - 299_000 }, evictAfter],
    [
      'it is silent for less than any source may be, whatever the policy says',
      { ...gone, heartbeatAtMs: nowMs - 80_000, isSynced: false },
      { ...evictAfter, evictAfterSeconds: 1 },
    ],
    ['an operator has paused it', { ...gone, isPaused: true }, evictAfter],
  ])('a source is not evicted where %s', (_, found, policy) => {
    expect(step(found, { state: 'silent', policy })?.state).toBe('silent');
  });

  it.each(['silent', 'evicted'] as const)(
    'a source that is %s stays so when sweep finds it fresh: its own heartbeats bring it back',
    (state) => {
      expect(step(heard, { state })).toEqual({ state, sinceMs });
    },
  );

  it('an evicted source whose API answers is silent once its pods are listed: the snapshot is as old as the eviction', () => {
    const answers: Found = { ...gone, api: 'itself' };
    expect(step(answers, { state: 'evicted' })).toEqual({ state: 'evicted', sinceMs });
    expect(step(answers, { state: 'evicted', isListed: true })).toEqual({ state: 'silent', sinceMs: nowMs });
  });

  it.each<[string, Partial<Found>]>([
    ['an error, or another cluster, answers', { api: 'otherwise' }],
    ['its API is not asked', { api: undefined }],
    ['its history is in doubt', { api: 'itself', isSynced: false }],
    ['an operator has paused it', { api: 'itself', isPaused: true }],
  ])('an evicted source stays so where %s', (_, more) => {
    expect(step({ ...gone, ...more }, { state: 'evicted', isListed: true })?.state).toBe('evicted');
  });

  it('the silence of a source without any heartbeat begins when sweep finds it silent', () => {
    const never: Found = { ...gone, isSynced: false, heartbeatAtMs: 0 };
    expect(step(never)?.state).toBe('silent');
    expect(step(never, { state: 'silent' })?.state).toBe('evicted');
  });

  it.each<[string, Beside]>([
    ['fresh clusters do not answer either', { others: { ...heard, api: 'not' } }],
    ['fresh clusters do not answer either', { others: { ...heard, api: undefined } }],
    ['a record could not be read', { isWhole: false }],
  ])('an eviction is held where %s (MC-72)', (heldFor, beside) => {
    expect(step(gone, { state: 'silent', ...beside })).toEqual({ state: 'silent', sinceMs, heldFor });
  });

  it('a control that answers with an error is reached', () => {
    expect(step(gone, { state: 'silent', others: { ...heard, api: 'otherwise' } })?.state).toBe('evicted');
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 1],
  ])(
    'no source is evicted while %i are silent and %i are fresh: the hub itself is cut off (MC-72)',
    (silent, fresh) => {
      const facts = new Map(
        Array.from({ length: silent + fresh }, (_, i) => [`c${i}`, i < silent ? gone : heard]),
      );
      const members = [...facts].map(([id, found]) =>
        record(id, found, { state: found === gone ? 'silent' : 'fresh' }),
      );
      const found = stepSources(members, { answers: answersIn(facts), isWhole: true, nowMs });
      expect([...found.values()].map((s) => [s.state, s.heldFor])).toEqual(
        [...facts.values()].map((f) =>
          f === gone ? ['silent', 'half of the set is silent'] : ['fresh', undefined],
        ),
      );
    },
  );
});
