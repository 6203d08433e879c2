/**
 * The record of a state of an output that another client wrote: in a cluster where the hub does not write,
 * the relay sends each state whole. A record has the changes of its output, and now and then all addresses,
 * so that the addresses at a time follow from the records before it.
 */
import { fnv1a128 } from '#shared/kube/hash.ts';
import type { ObservedSoFar } from '#shared/kube/listed-endpoints.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { type Addresses, addressKey, type ListedAddress } from './addresses.ts';
import { changesBetween, type Why } from './changes.ts';
import type { PodMoves } from './history-record.ts';

export interface ObservedRecord {
  /** When the relay saw the state, or ingest the list with it; ms since the epoch. */
  readonly atMs: number;
  readonly output: { readonly kind: OutputKind; readonly name: string };
  /** Field manager that wrote last. Undefined for a deletion, and if the relay does not tell. */
  readonly manager?: string | undefined;
  /** From the relay's event of a pod to its event of this state, which shows the pod's change; ms. */
  readonly lateMs?: number | undefined;
  /** A list showed the state: its changes are of an unknown time before. */
  readonly isListed?: boolean;
  readonly isDeleted?: boolean;
  readonly changes: readonly PodMoves[];
  /** The changed addresses as they are now, with their ports. `changes` has those that are gone. */
  readonly now: readonly ListedAddress[];
  /** Number of changed pods that are not named. */
  readonly more: number;
  /** All addresses of the output. */
  readonly whole?: readonly ListedAddress[];
  /** Short hashes of all addresses before and after, by which a reader finds that a record is missing. */
  readonly checkBefore?: string;
  readonly check: string;
}

/** Most addresses that a record has whole. */
const maxWhole = 100;
const wholeEvery = 50;
const wholeEveryMs = 3_600_000;

export interface ObservedState {
  /** Undefined if the state before is not known. */
  readonly before: Addresses | undefined;
  readonly after: Addresses;
  readonly soFar: ObservedSoFar | undefined;
  readonly why: Why;
  readonly maxNamed: number;
  readonly of: Pick<ObservedRecord, 'atMs' | 'output' | 'manager' | 'lateMs' | 'isListed' | 'isDeleted'>;
}

/** Returns undefined if no address has changed, and for the deletion of an output that was never seen. */
export function observedRecord({
  before,
  after,
  soFar,
  why,
  maxNamed,
  of,
}: ObservedState): { readonly record: ObservedRecord; readonly soFar: ObservedSoFar } | undefined {
  const isFirst = before === undefined || soFar === undefined;
  const from = before ?? after;
  const { changes, more } = changesBetween({ saved: from, found: from }, after, {
    why,
    otherWriter: '',
    maxNamed,
  });
  if (changes.length === 0 && (!isFirst || (of.isDeleted && before))) return undefined;
  const hasWhole = (isFirst || more > 0 || isWholeDue(soFar, of.atMs)) && after.size <= maxWhole;
  const keys = new Set(changes.flatMap(({ pod, moves }) => moves.map((m) => addressKey({ ...m, pod }))));
  const record: ObservedRecord = {
    ...of,
    changes,
    now: [...after].flatMap(([key, address]) => (keys.has(key) ? [address] : [])),
    more,
    ...(hasWhole && { whole: [...after.values()] }),
    ...(before && { checkBefore: checkOf(before) }),
    check: checkOf(after),
  };
  return { record, soFar: soFarAfter(soFar, of.atMs, hasWhole) };
}

const isWholeDue = ({ sinceWhole, wholeAtMs }: ObservedSoFar, atMs: number): boolean =>
  sinceWhole + 1 >= wholeEvery || atMs - wholeAtMs >= wholeEveryMs;

const soFarAfter = (before: ObservedSoFar | undefined, atMs: number, hasWhole: boolean): ObservedSoFar => ({
  sinceWhole: hasWhole ? 0 : (before?.sinceWhole ?? 0) + 1,
  wholeAtMs: hasWhole ? atMs : (before?.wholeAtMs ?? 0),
  sinceMs: before?.sinceMs ?? atMs,
});

/** By places, addresses, pods and states, but not by details: `now` alone has these. */
export const checkOf = (addresses: Addresses): string =>
  fnv1a128(
    [...addresses]
      .map(([key, { state }]) => `${key} ${state}`)
      .sort()
      .join('\n'),
  ).slice(0, 8);

/** Returns the output's addresses after the record, or undefined if a record before it is missing. */
export function afterRecord(before: Addresses, record: ObservedRecord): Addresses | undefined {
  if (record.whole) return byKey(record.whole);
  const after = new Map(before);
  for (const { pod, moves } of record.changes)
    for (const { where, address } of moves) after.delete(addressKey({ where, address, pod }));
  for (const address of record.now) after.set(addressKey(address), address);
  return checkOf(after) === record.check ? after : undefined;
}

const byKey = (addresses: readonly ListedAddress[]): Addresses =>
  new Map(addresses.map((address) => [addressKey(address), address]));
