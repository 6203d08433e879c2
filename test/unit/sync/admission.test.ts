/**
 * The truth table: mode × writer conflict × first lists × circuit × Service record × service in conflict. The
 * first row that matches a cluster counts.
 */
import { expect, it } from 'vitest';
import { admit } from '#functions/sync/admission/admission.ts';
import { type ClusterRecord, decodeCluster } from '#shared/clusters/record.ts';
import { defaultLimits as limits } from '#shared/contract/limits.ts';

const nowMs = 1_000_000;
const modes = ['active', 'shadow', 'paused', 'draining', 'removed'] as const;
const listStates = ['applied', 'missing', 'unbound session'] as const;
const circuits = ['closed', 'open', 'due', 'just recovered'] as const;

interface Row {
  readonly mode?: readonly (typeof modes)[number][];
  readonly conflict?: boolean;
  readonly lists?: readonly (typeof listStates)[number][];
  readonly circuit?: (typeof circuits)[number];
  readonly isKnown?: boolean;
  readonly isInConflict?: boolean;
  readonly admission: string;
}

/** A missing column means all its values. */
const table: readonly Row[] = [
  { mode: ['paused'], isKnown: false, admission: 'postpone: paused' },
  { conflict: true, isKnown: false, admission: 'postpone: paused' },
  { conflict: true, admission: 'skip' },
  { mode: ['paused', 'draining', 'removed'], admission: 'skip' },
  { lists: ['missing'], admission: 'postpone: first lists not complete' },
  { mode: ['shadow'], admission: 'compare' },
  { lists: ['unbound session'], admission: 'postpone: first lists not complete' },
  { isInConflict: true, admission: 'postpone: another client keeps writing its objects' },
  { circuit: 'open', admission: 'postpone: circuit: unreachable' },
  { circuit: 'due', admission: 'probe' },
  { circuit: 'just recovered', admission: 'postpone: recovering' },
  { circuit: 'closed', admission: 'write' },
];

type Case = Required<Omit<Row, 'mode' | 'lists' | 'admission'>> & {
  readonly mode: (typeof modes)[number];
  readonly lists: (typeof listStates)[number];
};

const cases: readonly Case[] = modes.flatMap((mode) =>
  [false, true].flatMap((conflict) =>
    listStates.flatMap((lists) =>
      circuits.flatMap((circuit) =>
        [false, true].flatMap((isKnown) =>
          [false, true].map((isInConflict) => ({ mode, conflict, lists, circuit, isKnown, isInConflict })),
        ),
      ),
    ),
  ),
);

const matches = (row: Row, c: Case): boolean =>
  (row.mode?.includes(c.mode) ?? true) &&
  (row.lists?.includes(c.lists) ?? true) &&
  (row.conflict ?? c.conflict) === c.conflict &&
  (row.circuit ?? c.circuit) === c.circuit &&
  (row.isKnown ?? c.isKnown) === c.isKnown &&
  (row.isInConflict ?? c.isInConflict) === c.isInConflict;

function clusterOf({ mode, conflict, lists, circuit }: Case): ClusterRecord {
  const known = decodeCluster('c', { pk: '', sk: '', mode, inc: 1 });
  const applied = { Service: 1, Pod: lists === 'missing' ? 0 : 1, Node: 1, Endpoints: 1, EndpointSlice: 1 };
  const open = { reason: 'unreachable', failures: 1 } as const;
  return {
    ...known,
    writerConflict: conflict,
    lists: { firstListOf: applied, ownListsWanted: [], suppressesWakeUps: false, begun: {} },
    unverified:
      lists === 'unbound session' ? { state: 'unbound', session: 's', uid: 'u', sinceMs: 1 } : undefined,
    circuit:
      circuit === 'open'
        ? { ...open, untilMs: nowMs + 1 }
        : circuit === 'due'
          ? { ...open, untilMs: nowMs }
          : undefined,
    recoveredAtMs: circuit === 'just recovered' ? nowMs - 1 : 0,
  };
}

function admitted(c: Case, random = 0.5): string {
  const admission = admit(clusterOf(c), {
    isKnown: c.isKnown,
    conflictUntilMs: c.isInConflict ? nowMs + 1_500 : nowMs,
    rounds: 0,
    nowMs,
    limits,
    random: () => random,
  });
  return admission.kind === 'requeue' ? `postpone: ${admission.outcome.reason}` : admission.kind;
}

it('every cluster is admitted by the table', () => {
  const wrong = cases.flatMap((c) => {
    const expected = table.find((row) => matches(row, c))?.admission;
    return admitted(c) === expected ? [] : [{ ...c, expected, admitted: admitted(c) }];
  });
  expect(wrong).toEqual([]);
  expect(cases).toHaveLength(480);
});

it('every row of the table decides some cluster', () => {
  const deciding = new Set(cases.map((c) => table.find((row) => matches(row, c))));
  expect(table.filter((row) => !deciding.has(row))).toEqual([]);
});

it('a share of the runs is admitted just after a recovery', () => {
  const recovered: Case = {
    mode: 'active',
    conflict: false,
    lists: 'applied',
    circuit: 'just recovered',
    isKnown: true,
    isInConflict: false,
  };
  expect([0, 0.01, 0.02, 0.9].map((random) => admitted(recovered, random))).toEqual([
    'write',
    'write',
    'postpone: recovering',
    'postpone: recovering',
  ]);
});

it('a run that waits for the first lists waits longer each round, and not beyond 30 s', () => {
  const missing = clusterOf({
    mode: 'active',
    conflict: false,
    lists: 'missing',
    circuit: 'closed',
    isKnown: true,
    isInConflict: false,
  });
  const waits = [0, 1, 4, 5, 99].map((rounds) => {
    const admission = admit(missing, {
      isKnown: true,
      conflictUntilMs: 0,
      rounds,
      nowMs,
      limits,
      random: () => 0,
    });
    return admission.kind === 'requeue' && admission.outcome.requeueAfterSeconds;
  });
  expect(waits).toEqual([1, 2, 16, 30, 30]);
});

it('a run that meets an open circuit comes back after it, and a pending retry until then covers it', () => {
  const open = clusterOf({
    mode: 'active',
    conflict: false,
    lists: 'applied',
    circuit: 'open',
    isKnown: true,
    isInConflict: false,
  });
  const admission = admit(
    { ...open, circuit: { reason: 'throttled', failures: 1, untilMs: nowMs + 9_500 } },
    { isKnown: true, conflictUntilMs: 0, rounds: 0, nowMs, limits, random: () => 0 },
  );
  expect(admission).toEqual({
    kind: 'requeue',
    outcome: {
      kind: 'requeued',
      reason: 'circuit: throttled',
      requeueAfterSeconds: 25,
      coalesceSeconds: 310,
      endsRow: true,
    },
  });
});
