/** What a run changed, from the outputs before and after it, with the reasons of `explain`. */
import { type Addresses, detailBetween, inEndpoints, type Listed } from './addresses.ts';
import type { HistoryRecord, Move, PodChange } from './history-record.ts';

/** What a run has made of the addresses, as it is named in its record. */
export interface Changes {
  readonly changes: readonly PodChange[];
  readonly more: number;
  /** `HistoryRecord.foundOtherwise`. */
  readonly foundOtherwise?: NonNullable<HistoryRecord['foundOtherwise']>;
}

export interface Before {
  /** As saved before the run. */
  readonly saved: Addresses;
  /** As the run read them from the API server, where another client had changed them; otherwise as saved. */
  readonly found: Addresses;
}

/** Why a pod's address is where it is now, or why it is not listed. */
export type Why = (pod: string, where: string) => string;

/** `maxNamed`: pods that are named, in the order of their names; the others are counted. `otherWriter`: who wrote what was found. */
export function changesBetween(before: Before, after: Addresses, why: Why, otherWriter: string, maxNamed: number): Changes {
  const moves = new Map<string, Map<string, Move>>();
  const repairs = new Map<string, Move[]>();
  const otherwise = { endpoints: new Set<string>(), slices: new Set<string>() };
  for (const key of new Set([...before.saved.keys(), ...before.found.keys(), ...after.keys()])) {
    const [saved, found, now] = [before.saved.get(key), before.found.get(key), after.get(key)];
    const { pod, address, where } = (now ?? saved ?? found) as Listed;
    if (saved?.state !== found?.state) otherwise[where === inEndpoints ? 'endpoints' : 'slices'].add(`${pod} ${address}`);
    const move = moveBetween(saved, now);
    if (move) moves.set(pod, (moves.get(pod) ?? new Map<string, Move>()).set(key, move));
    else if (found !== saved) {
      const repair = moveBetween(found, now);
      if (repair) repairs.set(pod, [...(repairs.get(pod) ?? []), repair]);
    }
  }
  const pods = [...new Set([...moves.keys(), ...repairs.keys()])].sort();
  const named = pods.slice(0, maxNamed);
  const changes = named.flatMap((pod): PodChange[] => [
    ...byReason(pod, [...(moves.get(pod)?.values() ?? [])], why),
    ...(repairs.has(pod) ? [{ pod, why: `${otherWriter} had changed it`, moves: repairs.get(pod) as Move[], isRepair: true }] : []),
  ]);
  const foundOtherwise = { endpoints: otherwise.endpoints.size, slices: otherwise.slices.size };
  return { changes, more: pods.length - named.length, ...(foundOtherwise.endpoints + foundOtherwise.slices > 0 && { foundOtherwise }) };
}

function moveBetween(from: Listed | undefined, to: Listed | undefined): Move | undefined {
  const { where, address } = (to ?? from ?? { where: '', address: '' }) as Listed;
  const detail = from && to && detailBetween(from.details, to.details);
  if (from?.state === to?.state && detail === undefined) return undefined;
  return { where, address, from: from?.state, to: to?.state, ...(detail !== undefined && { detail }) };
}

/** The reason is mostly one for Endpoints and slices. Ports, node, zone and hints need none: the moves say what they were. */
function byReason(pod: string, moves: readonly Move[], why: Why): readonly PodChange[] {
  const reasons = Map.groupBy(moves, (move) => (move.from === move.to ? '' : why(pod, move.where)));
  return [...reasons].map(([reason, of]) => ({ pod, why: reason, moves: of }));
}
