/**
 * Merges consecutive runs without changes that failed or were held back for the same reason, so an hour of an
 * unreachable cluster is one line.
 */
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';

/**
 * Returns the records with consecutive equal records merged into one with a count. `records` are in order,
 * oldest first.
 */
export function withRepeatsCounted(records: readonly HistoryRecord[]): readonly HistoryRecord[] {
  const counted: HistoryRecord[] = [];
  for (const record of records) {
    const last = counted.at(-1);
    if (last && isLike(last, record)) counted[counted.length - 1] = repeated(last, record);
    else counted.push(record);
  }
  return counted;
}

function isLike(a: HistoryRecord, b: HistoryRecord): boolean {
  const isQuiet = (r: HistoryRecord): boolean =>
    r.writes.endpoints + r.writes.slices === 0 &&
    r.changes.length + r.more === 0 &&
    r.gap === undefined &&
    r.notes.length === 0;
  return (
    isQuiet(a) &&
    isQuiet(b) &&
    a.heldBack === b.heldBack &&
    JSON.stringify(a.endings) === JSON.stringify(b.endings)
  );
}

const repeated = (first: HistoryRecord, last: HistoryRecord): HistoryRecord => ({
  ...first,
  endedMs: last.endedMs,
  times: first.times + last.times,
  untilMs: last.untilMs,
});
