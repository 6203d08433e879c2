import { describe, expect, it } from 'vitest';
import { publishStates } from '#functions/sweep/states.ts';
import { type ClusterRecord, decodeCluster } from '#shared/clusters/record.ts';
import { kinds } from '#shared/kube/types.ts';

const now = 10_000_000;
const lists = Object.fromEntries(kinds.map((k) => [`firstList_${k}`, 1]));
const conflict = { conflict: now };
const circuit = (reason: string): object => ({
  circuit: JSON.stringify({ reason, until: now, failures: 1 }),
});

function statesOf(item: object): { readonly [metric: string]: number } {
  const states = new Map<string, number>();
  const meta: ClusterRecord = decodeCluster('c', { pk: '', sk: '', inc: 1, ...item });
  publishStates({ now: () => now, metrics: { put: (name, value) => void states.set(name, value) } }, meta);
  return Object.fromEntries(states);
}

describe('the state of a cluster', () => {
  it('the state of an active cluster that is well is published whole, and counts for no share', () => {
    expect(statesOf({ mode: 'active', heartbeatAt: now - 2_000, ...lists })).toEqual({
      RelayHeartbeatAge: 2,
      SilentRelays: 0,
      FirstListsMissing: 0,
      CircuitOpen: 0,
      OpenCircuits: 0,
      WriterConflict: 0,
    });
  });

  it.each([
    ['its relay is silent', { heartbeatAt: now - 91_000 }, { SilentRelays: 1 }],
    ['its first lists are not complete', { firstList_Pod: 0 }, { FirstListsMissing: 1 }],
    [
      'it can’t be written to',
      circuit('unreachable'),
      { CircuitOpen: 1, OpenCircuits: 1, WriterConflict: 0 },
    ],
    ['it has two writers', conflict, { CircuitOpen: 1, OpenCircuits: 1, WriterConflict: 1 }],
  ])('the state of an active cluster counts when %s', (_, item, states) => {
    expect(statesOf({ mode: 'active', heartbeatAt: now, ...lists, ...item })).toMatchObject(states);
  });

  it('the state of an active cluster without a heartbeat waits for its first lists, and has no age', () => {
    const states = statesOf({ mode: 'active' });
    expect(states).toMatchObject({ FirstListsMissing: 1 });
    expect(states).not.toHaveProperty('RelayHeartbeatAge');
    expect(states).not.toHaveProperty('SilentRelays');
  });

  it('the state of a cluster in shadow mode has its relay and lists, and no circuit that stayed open', () => {
    expect(
      statesOf({ mode: 'shadow', heartbeatAt: now - 1_000, ...lists, ...circuit('unreachable') }),
    ).toEqual({
      RelayHeartbeatAge: 1,
      SilentRelays: 0,
      FirstListsMissing: 0,
    });
  });

  it.each([
    ['an invalid annotation in any case', { annotated: '4 1', optIn: 'active' }, 1],
    ['every annotation while opt-in is off', { annotated: '4 1' }, 5],
    ['every annotation while opt-in is a preview', { annotated: '4 0', optIn: 'shadow' }, 4],
    [
      'every annotation while the slices are withdrawn',
      { annotated: '4 0', optIn: 'active', optInWithdraws: 1 },
      4,
    ],
    ['no Service while opt-in is active', { annotated: '4 0', optIn: 'active' }, 0],
    ['those with slices of the hub that do not opt in', { annotated: '4 0 6 2', optIn: 'active' }, 2],
    [
      'those with slices of the hub that do not opt in, and others while opt-in is off',
      { annotated: '4 1 6 2' },
      7,
    ],
  ])('the Services without a writer include %s', (_, item, expected) => {
    for (const mode of ['active', 'shadow'])
      expect(statesOf({ mode, heartbeatAt: now, ...lists, ...item })).toMatchObject({
        ServicesWithoutWriter: expected,
      });
  });

  it.each([
    [
      'is paused, whatever is the matter with it',
      { mode: 'paused', heartbeatAt: 1, annotated: '1 1', ...conflict },
    ],
    ['is in shadow mode and was never heard of', { mode: 'shadow' }],
  ])('the state of a cluster is not published while it %s', (_, item) => {
    expect(statesOf(item)).toEqual({});
  });
});
