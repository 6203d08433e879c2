/** The reasons why the addresses at a time are unknown. */
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { effectiveMs, followsCutShort, isOfCluster } from './record-facts.ts';
import { exactTime } from './sentences.ts';

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

/** The cluster's switches at the time. */
export interface SwitchesAsked {
  /** The mode, or the mode before a pause. Undefined without an audit record. */
  readonly unpaused: string | undefined;
  /** Time of the switch to that mode, ms since the epoch. Undefined without an audit record. */
  readonly sinceMs: number | undefined;
  readonly optIn: string;
}

const wasCutShort = 'a run was cut short, and no record has what it wrote';
const wasUnanswered =
  'the last run before that did not complete, and a write without an answer may have taken effect';
const notKept = 'the hub does not write in it and keeps no history';

/** Returns undefined if the addresses are known. `records` are all records, oldest first. */
export function whyNotKnown(
  records: readonly HistoryRecord[],
  { keptSinceMs, switches, hasOutputs, whyNotNow }: FactsBesideRecords,
  atMs: number,
): string | undefined {
  const ofCluster = records.filter(isOfCluster);
  const last = ofCluster.findLast((r) => effectiveMs(r) <= atMs);
  const next = ofCluster.find((r) => effectiveMs(r) > atMs);
  if (atMs < keptSinceMs) return beginsAt(keptSinceMs);
  const mode = switches.unpaused;
  if (mode === undefined) return 'no audit record has the mode of the cluster at that time';
  if (mode === 'draining' || mode === 'removed')
    return `the cluster was ${mode}${since(switches.sinceMs)}: ${notKept}`;
  // In mode active the hub writes in place of the built-in controllers.
  const isTakenOver = last !== undefined && mode === 'active' && (switches.sinceMs ?? 0) > effectiveMs(last);
  // A run without a record may have made the hub the writer again.
  const isCutShort = records.some(
    (r) =>
      r.atMs > (last?.atMs ?? 0) && r.atMs <= (next?.atMs ?? Number.POSITIVE_INFINITY) && followsCutShort(r),
  );
  const hasNoWriter = (last?.writer === 'built-in' && !isTakenOver) || last?.writer === 'none';
  if (isCutShort && hasNoWriter) return wasCutShort;
  const newest = records.findLast((r) => effectiveMs(r) <= atMs);
  if (hasNoWriter && newest && newest !== last && Object.keys(newest.endings).length > 0)
    return wasUnanswered;
  if (last?.writer === 'built-in' && !isTakenOver) {
    const isHandedBack = (last.deletes?.slices ?? 0) > 0;
    return `served by the built-in controllers since ${exactTime(effectiveMs(last))}${isHandedBack ? ' (handed back)' : ' at the latest'}; the hub keeps no history of their writes`;
  }
  if (last?.writer === 'none')
    return `not written since ${exactTime(effectiveMs(last))}: the Service was deleted, or its slices were withdrawn`;
  if (mode === 'shadow' && switches.optIn !== 'active')
    return `the cluster was in shadow mode${since(switches.sinceMs)}: ${notKept}`;
  if (!last && next?.isFirst) return beginsAt(effectiveMs(next));
  if (mode === 'shadow' && !(last ? last.writer === 'opt-in' : next ? wasOurs(next) : hasOutputs))
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
