/**
 * The addresses at a past time where other clients write them: forward from a record that has all addresses
 * of an output, or backward from its saved state. Each record proves the state after it by a short hash.
 */
import { type Addresses, addressKey } from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { afterRecord, checkOf, type ObservedRecord } from '#shared/controllers/history/observed-record.ts';
import { exactTime, spanText } from './sentences.ts';
import { type AddressThen, listedText, listedThen, newestOf, notKnown, type Then } from './then.ts';

/** An output of the Service as it is saved now, with the records of its states, oldest first. */
export interface ObservedOutput {
  readonly name: string;
  /** Undefined if its content is not saved. Empty for a deleted output. */
  readonly now: Addresses | undefined;
  /** Why it may be gone although it is saved. */
  readonly doubt: string | undefined;
  /** Since when states of the output are recorded. Undefined if they are not. */
  readonly sinceMs: number | undefined;
  readonly records: readonly ObservedRecord[];
}

export interface AskedObserved {
  readonly atMs: number;
  /** No record of the Service is older. */
  readonly keptSinceMs: number;
  /** The switch to shadow mode before that time. Undefined if the cluster was not in another mode before. */
  readonly switchedAtMs: number | undefined;
  /** The newest heartbeat of the relay. */
  readonly heartbeatAtMs: number;
}

/** Within this time after a switch the relay has listed all outputs: it does so every half hour. */
const listedWithinMs = 40 * 60_000;

export function observedThen(outputs: readonly ObservedOutput[], asked: AskedObserved): Then {
  const { atMs, keptSinceMs } = asked;
  if (atMs < keptSinceMs) return notKnown(atMs, `the record begins at ${exactTime(keptSinceMs)}`);
  const states = outputs.map((output) => stateThen(output, atMs));
  const reason = states.find((state) => typeof state === 'string');
  if (typeof reason === 'string') return notKnown(atMs, reason);
  const listed = states.flatMap((state) => (typeof state === 'string' ? [] : [...state.values()]));
  const records = outputs.flatMap((o) => o.records).sort((a, b) => a.atMs - b.atMs);
  const earlier = records.filter((r) => r.atMs <= atMs);
  const { addresses, gone } = listedThen(
    listed.map((one) => ({ ...one, ports: one.details['ports'] })),
    newestOf(earlier.filter((r) => !r.isListed)),
  );
  return {
    ...{ atMs, isKnown: true, summary: summaryOf(addresses, earlier.at(-1), atMs), addresses, gone },
    caveats: [
      ...notListedSince(asked),
      ...outputs.flatMap(({ doubt }) => doubt ?? []),
      ...outputs.flatMap((output) => shownBy(output, atMs)),
    ],
  };
}

/** The hub has saved nothing of what others wrote in another mode. */
const notListedSince = ({ atMs, switchedAtMs, heartbeatAtMs }: AskedObserved): readonly string[] =>
  switchedAtMs !== undefined && Math.min(atMs, heartbeatAtMs) < switchedAtMs + listedWithinMs
    ? [
        `what was written before the switch to shadow mode at ${exactTime(switchedAtMs)} is on record with the relay’s next lists`,
      ]
    : [];

function shownBy({ records, name }: ObservedOutput, atMs: number): readonly string[] {
  const next = records.find((r) => r.atMs > atMs);
  if (!next?.isListed) return [];
  // Of a state before the cluster's history went back the record has no changes.
  const isOther = next.checkBefore === undefined && next.check !== records[records.indexOf(next) - 1]?.check;
  if (next.changes.length === 0 && !isOther) return [];
  return [`a list showed ${name} changed at ${exactTime(next.atMs)}, since an unknown time`];
}

/** Returns the addresses of an output, or why they are not known. */
function stateThen({ name, now, sinceMs, records }: ObservedOutput, atMs: number): Addresses | string {
  const [first] = records;
  const beganMs = sinceMs ?? first?.atMs;
  if (beganMs === undefined) return now?.size === 0 ? now : `no state of ${name} is on record`;
  if (atMs < beganMs)
    return first && !first.isListed && first.atMs === beganMs
      ? new Map()
      : `the record of ${name} begins at ${exactTime(beganMs)}`;
  const later = records.filter((r) => r.atMs > atMs);
  const earlier = records.slice(0, records.length - later.length);
  const [last, next] = [earlier.at(-1), later[0]];
  const state = forward(earlier) ?? backward(now, later);
  // The next record shows the state before it, and the saved state what no record shows.
  const proofs = [last?.check, next ? next.checkBefore : now && checkOf(now)];
  return state && proofs.every((proof) => proof === undefined || checkOf(state) === proof)
    ? state
    : missing(name);
}

const missing = (name: string): string => `a record of ${name} is missing, or names too few of its addresses`;

/** From the last record with all addresses. */
function forward(records: readonly ObservedRecord[]): Addresses | undefined {
  const whole = records.findLastIndex((r) => r.whole !== undefined);
  if (whole === -1) return undefined;
  let state: Addresses | undefined = new Map();
  for (const record of records.slice(whole)) state = state && afterRecord(state, record);
  return state;
}

function backward(now: Addresses | undefined, later: readonly ObservedRecord[]): Addresses | undefined {
  const states = now && new Map(now);
  for (const record of later.toReversed()) {
    if (!states || record.more > 0 || checkOf(states) !== record.check) return undefined;
    for (const { pod, moves } of record.changes)
      for (const { where, address, from } of moves) {
        const key = addressKey({ where, address, pod });
        if (from === undefined) states.delete(key);
        else states.set(key, { where, address, pod, state: from, details: {} });
      }
  }
  return states;
}

function summaryOf(
  addresses: readonly AddressThen[],
  last: ObservedRecord | undefined,
  atMs: number,
): string {
  const before = last
    ? `; the last change on record before that was seen ${spanText(atMs - last.atMs)} earlier${last.manager ? `, written by ${last.manager}` : ''}`
    : '; no change before that is on record';
  return `${listedText(addresses)}${before}.`;
}

/** The record as one of a run, to be told with those. */
export function asRun(record: ObservedRecord): HistoryRecord {
  const { atMs, output, manager, lateMs, isListed, isDeleted, changes, more, whole } = record;
  const count = { endpoints: 0, slices: 0, [output.kind === 'Endpoints' ? 'endpoints' : 'slices']: 1 };
  const first = changes.length === 0 && whole ? [`${whole.length} addresses were there already`] : [];
  return {
    ...{ atMs, generation: 0, endedMs: atMs, writes: count, endings: {}, changes, more, times: 1 },
    ...(isDeleted && { deletes: count }),
    by: manager ?? 'another client',
    notes: [
      ...first,
      ...(lateMs === undefined ? [] : [`seen ${spanText(lateMs)} after the change of the pod`]),
      ...(isListed && changes.length > 0 ? ['a list showed it: it happened at an unknown time before'] : []),
    ],
    untilMs: atMs,
  };
}
