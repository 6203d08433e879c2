/** Computes the changes of a run from the outputs before and after it, with the reasons of `explain`. */
import { type Addresses, detailBetween, inEndpoints, type ListedAddress } from './addresses.ts';
import type { HistoryRecord, Move, PodMoves } from './history-record.ts';

/** Changes of addresses, as the run's record names them. */
export interface Changes {
  readonly changes: readonly PodMoves[];
  readonly more: number;
  /** `HistoryRecord.foundOtherwise`. */
  readonly foundOtherwise?: NonNullable<HistoryRecord['foundOtherwise']>;
}

export interface Before {
  /** Addresses of the outputs saved before the run. */
  readonly saved: Addresses;
  /**
   * Addresses that the run read from the API server after another client changed them. Otherwise the same as
   * `saved`.
   */
  readonly found: Addresses;
}

/** Returns the reason for a pod's current place, or for its absence. */
export type Why = (pod: string, where: string) => { readonly reason: string; readonly why: string };

export interface Naming {
  readonly why: Why;
  /** The client that wrote the outputs that the run found. */
  readonly otherWriter: string;
  /** Number of pods that are named. */
  readonly maxNamed: number;
}

/** Names pods in the order of their names, and counts the rest. */
export function changesBetween(
  before: Before,
  after: Addresses,
  { why, otherWriter, maxNamed }: Naming,
): Changes {
  const { moves, repairs, foundOtherwise } = compare(before, after);
  const pods = [...new Set([...moves.keys(), ...repairs.keys()])].sort();
  const named = pods.slice(0, maxNamed);
  const changes = named.flatMap((pod): PodMoves[] => {
    const ofPod = byReason(pod, moves.get(pod) ?? [], why);
    const repaired = repairs.get(pod);
    if (!repaired) return [...ofPod];
    const cause = { reason: 'OtherWriter', why: `${otherWriter} had changed it` };
    return [...ofPod, { pod, ...cause, moves: repaired, isRepair: true }];
  });
  return {
    changes,
    more: pods.length - named.length,
    ...(foundOtherwise.endpoints + foundOtherwise.slices > 0 && { foundOtherwise }),
  };
}

interface Compared {
  readonly moves: ReadonlyMap<string, readonly Move[]>;
  /** What the run set right again, of addresses that are as they were saved. */
  readonly repairs: ReadonlyMap<string, readonly Move[]>;
  readonly foundOtherwise: NonNullable<Changes['foundOtherwise']>;
}

function compare({ saved, found }: Before, after: Addresses): Compared {
  const moves = new Map<string, Move[]>();
  const repairs = new Map<string, Move[]>();
  const otherwise = { endpoints: new Set<string>(), slices: new Set<string>() };
  for (const key of new Set([...saved.keys(), ...found.keys(), ...after.keys()])) {
    const [was, met, is] = [saved.get(key), found.get(key), after.get(key)];
    const { pod, address, where } = (is ?? was ?? met) as ListedAddress;
    const outputs = where === inEndpoints ? otherwise.endpoints : otherwise.slices;
    if (was?.state !== met?.state) outputs.add(`${pod} ${address}`);
    const move = moveBetween(was, is);
    addMove(moves, pod, move);
    if (!move && met !== was) addMove(repairs, pod, moveBetween(met, is));
  }
  return {
    moves,
    repairs,
    foundOtherwise: { endpoints: otherwise.endpoints.size, slices: otherwise.slices.size },
  };
}

function addMove(moves: Map<string, Move[]>, pod: string, move: Move | undefined): void {
  if (move) moves.set(pod, [...(moves.get(pod) ?? []), move]);
}

function moveBetween(from: ListedAddress | undefined, to: ListedAddress | undefined): Move | undefined {
  const { where, address } = (to ?? from ?? { where: '', address: '' }) as ListedAddress;
  const detail = from && to && detailBetween(from.details, to.details);
  if (from?.state === to?.state && detail === undefined) return undefined;
  return { where, address, from: from?.state, to: to?.state, ...(detail !== undefined && { detail }) };
}

/**
 * Groups moves by reason, because Endpoints and slices usually have the same. Changes of ports, node, zone
 * and hints need no reason: the moves show them.
 */
function byReason(pod: string, moves: readonly Move[], why: Why): readonly PodMoves[] {
  const causes = moves.toSorted(byPlace).map((move) => ({
    move,
    cause: move.from === move.to ? { why: '' } : why(pod, move.where),
  }));
  const reasons = Map.groupBy(causes, ({ cause }) => JSON.stringify(cause));
  return [...reasons.values()].map((alike) => ({
    pod,
    ...(alike[0] as (typeof causes)[number]).cause,
    moves: alike.map(({ move }) => move),
  }));
}

/** Orders Endpoints before slices, whichever of the two the run has read or written first. */
const byPlace = (a: Move, b: Move): number => (a.where < b.where ? -1 : Number(a.where > b.where));
