/** The reasons why the addresses at a time are unknown. */
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { effectiveMs, followsCutShort, isOfCluster } from './record-facts.ts';
import { exactTime } from './sentences.ts';
import type { SwitchesThen } from './switches-then.ts';

/** Facts about the Service and its cluster that the records lack. */
export interface FactsBesideRecords {
  /** Time since which records of the cluster are kept, ms since the epoch. */
  readonly keptSinceMs: number;
  readonly switches: SwitchesAsked;
  /** True if the hub has saved outputs that it writes with the switches of that time. */
  readonly hasOutputs: boolean;
  /**
   * The reason why the hub would not write the current Service with the switches of that time. Undefined if
   * it would, or if the Service is deleted.
   */
  readonly whyNotNow: string | undefined;
}

type SwitchesAsked = Pick<SwitchesThen, 'unpaused' | 'sinceMs' | 'optIn'>;

const wasCutShort = 'a run was cut short, and no record has what it wrote';
const wasUnanswered =
  'the last run before that did not complete, and a write without an answer may have taken effect';
const notKept = 'the hub does not write in it and keeps no history';

/** Returns undefined if the addresses are known. `records` are all records, oldest first. */
export function whyNotKnown(
  records: readonly HistoryRecord[],
  facts: FactsBesideRecords,
  atMs: number,
): string | undefined {
  const { keptSinceMs, switches } = facts;
  if (atMs < keptSinceMs) return beginsAt(keptSinceMs);
  const mode = switches.unpaused;
  if (mode === undefined) return 'no audit record has the mode of the cluster at that time';
  if (mode === 'draining' || mode === 'removed')
    return `the cluster was ${mode}${since(switches.sinceMs)}: ${notKept}`;
  const around = recordsAround(records, switches, atMs);
  return (
    whyNobodyWrote(records, around, atMs) ??
    (mode === 'shadow' && switches.optIn !== 'active'
      ? `the cluster was in shadow mode${since(switches.sinceMs)}: ${notKept}`
      : whyNotOurs(around, facts))
  );
}

type Around = ReturnType<typeof recordsAround>;

/** The records of the hub's own writes around the time. */
function recordsAround(records: readonly HistoryRecord[], switches: SwitchesAsked, atMs: number) {
  const ofCluster = records.filter(isOfCluster);
  const last = ofCluster.findLast((r) => effectiveMs(r) <= atMs);
  const next = ofCluster.find((r) => effectiveMs(r) > atMs);
  return {
    last,
    next,
    // A run without a record, which may have made the hub the writer again.
    isCutShort: records.some(
      (r) =>
        r.atMs > (last?.atMs ?? 0) &&
        r.atMs <= (next?.atMs ?? Number.POSITIVE_INFINITY) &&
        followsCutShort(r),
    ),
    // In mode active the hub writes in place of the built-in controllers.
    isTakenOver:
      last !== undefined && switches.unpaused === 'active' && (switches.sinceMs ?? 0) > effectiveMs(last),
  };
}

/** By the last record the built-in controllers wrote the Service, or nobody did. */
function whyNobodyWrote(
  records: readonly HistoryRecord[],
  { last, isCutShort, isTakenOver }: Around,
  atMs: number,
): string | undefined {
  const isBuiltIn = last?.writer === 'built-in' && !isTakenOver;
  if (!last || !(isBuiltIn || last.writer === 'none')) return undefined;
  if (isCutShort) return wasCutShort;
  const newest = records.findLast((r) => effectiveMs(r) <= atMs);
  if (newest && newest !== last && Object.keys(newest.endings).length > 0) return wasUnanswered;
  if (!isBuiltIn)
    return `not written since ${exactTime(effectiveMs(last))}: the Service was deleted, or its slices were withdrawn`;
  const isHandedBack = (last.deletes?.slices ?? 0) > 0;
  return `served by the built-in controllers since ${exactTime(effectiveMs(last))}${isHandedBack ? ' (handed back)' : ' at the latest'}; the hub keeps no history of their writes`;
}

/** No record says that the hub wrote the Service then. */
function whyNotOurs(
  { last, next, isCutShort }: Around,
  { switches, hasOutputs, whyNotNow }: FactsBesideRecords,
): string | undefined {
  if (!last && next?.isFirst) return beginsAt(effectiveMs(next));
  const isOurs = last ? last.writer === 'opt-in' : next ? wasOurs(next) : hasOutputs;
  if (switches.unpaused === 'shadow' && !isOurs)
    return 'no record has the hub as its writer, and the cluster is in shadow mode; the hub keeps no history of the built-in controllers';
  if (!last && !next && !hasOutputs)
    return isCutShort ? wasCutShort : (whyNotNow ?? 'the hub has not written the Service');
  return next || whyNotNow === undefined
    ? undefined
    : `the hub does not write the Service now, and no record shows since when: ${whyNotNow}`;
}

/** Returns true if the hub wrote the Service in the run, because it opts in, or withdrew its slices. */
const wasOurs = ({ writer, deletes }: HistoryRecord): boolean =>
  writer === 'opt-in' || (deletes?.slices ?? 0) > 0;

const beginsAt = (ms: number): string => `the record begins at ${exactTime(ms)}`;

const since = (ms: number | undefined): string => (ms === undefined ? '' : ` since ${exactTime(ms)}`);
