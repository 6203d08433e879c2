/** Computes the addresses at a past time: the current addresses without the changes of later records. */
import { type Addresses, addressKey, type ListedAddress } from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord, PodMoves } from '#shared/controllers/history/history-record.ts';
import { effectiveMs, followsCutShort, isOfCluster } from './record-facts.ts';
import { exactTime, placeText, recordKind, spanText, unsavedText } from './sentences.ts';

/** An address with all places that had the same state. */
export interface AddressThen extends Pick<ListedAddress, 'address' | 'pod' | 'state'> {
  /** Texts such as `Endpoints` and `IPv4 slices`. */
  readonly places: readonly string[];
  /** Undefined if they are not known. */
  readonly ports?: string | undefined;
  /**
   * Start of that state, ms since the epoch, and its reason. Undefined if the state is older than the
   * records.
   */
  readonly sinceMs?: number | undefined;
  readonly why?: string | undefined;
}

/** An address that was removed before that time. */
export interface GoneThen extends Pick<ListedAddress, 'address' | 'pod'> {
  readonly places: readonly string[];
  readonly sinceMs: number;
  readonly why: string;
}

export interface Then {
  readonly atMs: number;
  /** If false, the summary has the reason. */
  readonly isKnown: boolean;
  readonly summary: string;
  readonly addresses: readonly AddressThen[];
  readonly gone: readonly GoneThen[];
  /** Reasons why the answer is uncertain. */
  readonly caveats: readonly string[];
}

type State = Pick<ListedAddress, 'where' | 'address' | 'pod' | 'state'> & Pick<AddressThen, 'ports'>;

/** `reason` is a clause. */
export const notKnown = (atMs: number, reason: string): Then => ({
  ...{ atMs, isKnown: false, summary: `Not known: ${reason}.` },
  ...{ addresses: [], gone: [], caveats: [] },
});

/**
 * `records` are all records, oldest first, and `now` the saved addresses. The caller checks first whether the
 * addresses are known (not-known.ts).
 */
export function addressesThen(records: readonly HistoryRecord[], now: Addresses, atMs: number): Then {
  const later = records.filter((r) => effectiveMs(r) > atMs);
  const earlier = records.filter((r) => effectiveMs(r) <= atMs);
  const states = [...statesThen(later, now).values()];
  const { addresses, gone } = listedThen(states, newestChanges(earlier));
  return {
    ...{ atMs, isKnown: true, summary: summaryOf(addresses, earlier, later, atMs), addresses, gone },
    caveats: [
      ...unsavedIn(earlier),
      ...unansweredIn(earlier),
      ...takenIn(earlier, later),
      ...caveatsOf(later),
    ],
  };
}

/** Returns the listed addresses, each since its newest change if that made its state, and those that are gone. */
export function listedThen(
  listed: readonly State[],
  newest: ReadonlyMap<string, Newest>,
): Pick<Then, 'addresses' | 'gone'> {
  const keys = new Set(listed.map(addressKey));
  const addresses = listed.map(({ where, address, pod, state, ports }) => {
    const change = newest.get(addressKey({ where, address, pod }));
    return {
      ...{ places: [placeText(where)], address, pod, state },
      ...(ports !== undefined && { ports }),
      ...(change?.to === state && { sinceMs: change.atMs, why: change.why }),
    };
  });
  const gone = [...newest].flatMap(([key, { to, where, address, pod, atMs: sinceMs, why }]) =>
    to === undefined && !keys.has(key) ? [{ places: [placeText(where)], address, pod, sinceMs, why }] : [],
  );
  return { addresses: together(addresses), gone: together(gone) };
}

/** Returns the states before the records `later`, by place, address and pod. */
export function statesThen(later: readonly HistoryRecord[], now: Addresses): ReadonlyMap<string, State> {
  const states = new Map<string, State>(now);
  for (const { changes } of [...later].reverse()) for (const change of changes) takeBack(states, change);
  return states;
}

/** Merges entries that differ in their places only, in the order of pods and addresses. */
function together<
  A extends { readonly places: readonly string[]; readonly address: string; readonly pod: string },
>(list: readonly A[]): readonly A[] {
  const alike = Map.groupBy(list, ({ places: _, ...rest }) => JSON.stringify([rest.pod, rest.address, rest]));
  return [...alike]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, alike]) => ({
      ...(alike[0] as A),
      places: [...new Set(alike.flatMap((a) => a.places))].sort(),
    }));
}

function takeBack(states: Map<string, State>, { pod, moves, isRepair }: PodMoves): void {
  if (isRepair) return;
  for (const { where, address, from } of moves) {
    const key = addressKey({ where, address, pod });
    if (from === undefined) states.delete(key);
    else states.set(key, { where, address, pod, state: from });
  }
}

interface Newest extends Pick<ListedAddress, 'where' | 'address' | 'pod'> {
  readonly to: string | undefined;
  readonly atMs: number;
  readonly why: string;
}

/** Returns the newest change that the records name, by address. */
export const newestChanges = (records: readonly HistoryRecord[]): ReadonlyMap<string, Newest> =>
  newestOf(records.map((record) => ({ atMs: effectiveMs(record), changes: record.changes })));

/** A change of ports alone is no change of the state. */
export function newestOf(
  records: readonly { readonly atMs: number; readonly changes: readonly PodMoves[] }[],
): ReadonlyMap<string, Newest> {
  const newest = new Map<string, Newest>();
  for (const { atMs, changes } of records)
    for (const { pod, why, moves, isRepair } of changes)
      for (const { where, address, from, to } of moves)
        if (from !== to && !isRepair)
          newest.set(addressKey({ where, address, pod }), { where, address, pod, to, why, atMs });
  return newest;
}

function summaryOf(
  addresses: readonly AddressThen[],
  earlier: readonly HistoryRecord[],
  later: readonly HistoryRecord[],
  atMs: number,
): string {
  const last = earlier.at(-1);
  const next = later.find((r) => r.changes.length + r.more > 0 && (r.seenMs ?? r.dueMs ?? r.atMs) <= atMs);
  const before = last
    ? `; the last run on record before that ${kindWords[recordKind(last)]} ${spanText(atMs - effectiveMs(last))} earlier`
    : '; no run before that is on record';
  const pending = next
    ? `; a change that the relay had seen by then was accepted at ${exactTime(effectiveMs(next))}`
    : '';
  return `${listedText(addresses)}${before}${pending}.`;
}

export function listedText(addresses: readonly AddressThen[]): string {
  const pods = Map.groupBy(addresses, (a) => a.pod || a.address);
  const ready = [...pods.values()].filter((alike) => alike.some((a) => a.state.startsWith('ready'))).length;
  return pods.size === 0
    ? 'No address was listed'
    : `${ready} of ${pods.size} listed pods ${ready === 1 ? 'was' : 'were'} ready to be reached`;
}

const kindWords = {
  wrote: 'wrote',
  failed: 'failed',
  held: 'was held back',
  found: 'wrote nothing',
} as const;

/**
 * Warns if the last earlier run's changes were not saved, because the past addresses are computed from saved
 * outputs.
 */
function unsavedIn(earlier: readonly HistoryRecord[]): readonly string[] {
  const last = earlier.findLast((r) => r.changes.length + r.more > 0);
  return last?.isUnsaved ? [`${exactTime(effectiveMs(last))}: ${unsavedText}`] : [];
}

/**
 * Warns of a write whose answer was lost, which may have taken effect. The next successful run reads the
 * outputs from the cluster.
 */
function unansweredIn(earlier: readonly HistoryRecord[]): readonly string[] {
  const last = earlier.at(-1);
  if (!last || Object.keys(last.endings).length === 0) return [];
  return [
    `${exactTime(effectiveMs(last))}: the last run before that did not complete, and a write without an answer may have taken effect`,
  ];
}

/**
 * Warns if the built-in controllers became the writer without a deletion by the hub: the Service was deleted
 * and made again.
 */
function takenIn(earlier: readonly HistoryRecord[], later: readonly HistoryRecord[]): readonly string[] {
  const next = later.find(isOfCluster);
  if (
    earlier.findLast(isOfCluster)?.writer !== 'opt-in' ||
    next?.writer !== 'built-in' ||
    (next.deletes?.slices ?? 0) > 0
  )
    return [];
  return [
    `${exactTime(effectiveMs(next))} found the Service with the built-in controllers as its writer, since an unknown time`,
  ];
}

function caveatsOf(later: readonly HistoryRecord[]): readonly string[] {
  const proven = { endpoints: false, slices: false };
  return later.flatMap((r) => {
    const unnamed =
      r.more > 0
        ? [
            `${exactTime(effectiveMs(r))} changed ${r.more.toLocaleString('en')} more pods, which the record does not name`,
          ]
        : [];
    return [...unnamed, ...gapOf(r), ...otherwiseIn(r, proven)];
  });
}

const gapOf = (r: HistoryRecord): readonly string[] =>
  r.gap === undefined
    ? []
    : [`${exactTime(effectiveMs(r))}: ${r.gap}; the addresses before that are uncertain`];

/** Warns of a run that was cut short before a run that completed: it may have written a slice of the hub. */
export function cutShortBeside(records: readonly HistoryRecord[], atMs: number): readonly string[] {
  const last = records.findLast((r) => effectiveMs(r) <= atMs);
  const next = records.find((r) => effectiveMs(r) > atMs);
  const isOpen = last !== undefined && Object.keys(last.endings).length > 0;
  return [isOpen ? last : undefined, next].flatMap((r) => (r && followsCutShort(r) ? gapOf(r) : []));
}

/**
 * A write succeeds only if the object is as the hub saved it, so it proves that no other client had changed
 * it until then. A Service has several slices.
 */
function otherwiseIn(r: HistoryRecord, proven: { endpoints: boolean; slices: boolean }): readonly string[] {
  const { endpoints = 0, slices = 0 } = r.foundOtherwise ?? {};
  const counts = [
    ...(endpoints > 0 && !proven.endpoints ? [`${countText(endpoints)} of Endpoints`] : []),
    ...(slices > 0 && !proven.slices ? [`${countText(slices)} of slices`] : []),
  ];
  proven.endpoints ||= endpoints > 0 || r.writes.endpoints > 0;
  proven.slices ||= slices > 0 || r.provesSlices === true;
  return counts.length > 0
    ? [
        `${exactTime(effectiveMs(r))} found ${counts.join(' and ')} that another client had changed at an unknown time`,
      ]
    : [];
}

const countText = (count: number): string =>
  count === 1 ? '1 address' : `${count.toLocaleString('en')} addresses`;
