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

/**
 * Names at most `maxNamed` pods in the order of their names, and counts the rest. `otherWriter` wrote the
 * outputs that the run found.
 */
export function changesBetween(
  before: Before,
  after: Addresses,
  why: Why,
  otherWriter: string,
  maxNamed: number,
): Changes {
  const moves = new Map<string, Map<string, Move>>();
  const repairs = new Map<string, Move[]>();
  const otherwise = { endpoints: new Set<string>(), slices: new Set<string>() };
  for (const key of new Set([...before.saved.keys(), ...before.found.keys(), ...after.keys()])) {
    const [saved, found, now] = [before.saved.get(key), before.found.get(key), after.get(key)];
    const { pod, address, where } = (now ?? saved ?? found) as ListedAddress;
    if (saved?.state !== found?.state)
      otherwise[where === inEndpoints ? 'endpoints' : 'slices'].add(`${pod} ${address}`);
    const move = moveBetween(saved, now);
    if (move) moves.set(pod, (moves.get(pod) ?? new Map<string, Move>()).set(key, move));
    else if (found !== saved) {
      const repair = moveBetween(found, now);
      if (repair) repairs.set(pod, [...(repairs.get(pod) ?? []), repair]);
    }
  }
  const pods = [...new Set([...moves.keys(), ...repairs.keys()])].sort();
  const named = pods.slice(0, maxNamed);
  const changes = named.flatMap((pod): PodMoves[] => [
    ...byReason(pod, [...(moves.get(pod)?.values() ?? [])], why),
    ...(repairs.has(pod)
      ? [
          {
            pod,
            reason: 'OtherWriter',
            why: `${otherWriter} had changed it`,
            moves: repairs.get(pod) as Move[],
            isRepair: true,
          },
        ]
      : []),
  ]);
  const foundOtherwise = { endpoints: otherwise.endpoints.size, slices: otherwise.slices.size };
  return {
    changes,
    more: pods.length - named.length,
    ...(foundOtherwise.endpoints + foundOtherwise.slices > 0 && { foundOtherwise }),
  };
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
  const causes = moves.map((move) => ({
    move,
    cause: move.from === move.to ? { why: '' } : why(pod, move.where),
  }));
  const reasons = Map.groupBy(causes, ({ cause }) => JSON.stringify(cause));
  return [...reasons.values()].map((of) => ({
    pod,
    ...(of[0] as (typeof causes)[number]).cause,
    moves: of.map(({ move }) => move),
  }));
}
