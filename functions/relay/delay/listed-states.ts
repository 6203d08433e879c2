/** What slices say of pods, in a few bytes an endpoint. */
import type { EndpointSlice } from '#shared/kube/types.ts';

/** How a slice lists a pod. */
export type ListedState = (typeof listedAs)[keyof typeof listedAs];
export const listedAs = { absent: 0, notReady: 1, ready: 2, terminating: 3 } as const;

/** 28 bits of the uid's FNV-1a. Two pods of one slice share them once in 50,000 slices of 100 endpoints. */
export function podHash(uid: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < uid.length; i++) hash = Math.imul(hash ^ uid.charCodeAt(i), 0x01000193);
  return hash >>> 4;
}

/** The pods of a slice with their states: each a hash and two bits, as one small integer. */
export type PackedStates = readonly number[];

/** The slice is as the server sent it: what cannot be read of it lists no pod. */
export function packedStates({ endpoints }: EndpointSlice): PackedStates {
  if (!Array.isArray(endpoints)) return [];
  return endpoints.flatMap((endpoint: NonNullable<EndpointSlice['endpoints']>[number] | null) => {
    const { targetRef, conditions } = endpoint ?? {};
    if (targetRef?.kind !== 'Pod' || typeof targetRef.uid !== 'string') return [];
    // An endpoint without the condition is ready.
    const ready = conditions?.ready === false ? listedAs.notReady : listedAs.ready;
    return [podHash(targetRef.uid) * 4 + (conditions?.terminating ? listedAs.terminating : ready)];
  });
}

export interface ListedChange {
  readonly pod: number;
  readonly before: ListedState;
  readonly after: ListedState;
}

/** The pods whose state differs between two versions of a slice. Most keep their state and their place. */
export function listedChanges(before: PackedStates, after: PackedStates): readonly ListedChange[] {
  const old = unpacked(before.filter((packed, i) => packed !== after[i]));
  const next = unpacked(after.filter((packed, i) => packed !== before[i]));
  const pods = new Set([...old.keys(), ...next.keys()]);
  return [...pods].flatMap((pod) => {
    const change = {
      pod,
      before: old.get(pod) ?? listedAs.absent,
      after: next.get(pod) ?? listedAs.absent,
    };
    return change.before === change.after ? [] : [change];
  });
}

const unpacked = (states: PackedStates): ReadonlyMap<number, ListedState> =>
  new Map(states.map((packed) => [Math.floor(packed / 4), (packed % 4) as ListedState]));
