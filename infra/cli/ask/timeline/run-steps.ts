/** The steps that the hub's record of the run has: by the relay's clock, and by those of the functions. */
import { effectiveMs } from '#infra/cli/ask/history/record-facts.ts';
import type { HistoryRecord, PodMoves } from '#shared/controllers/history/history-record.ts';
import { done, type Step } from './timeline.ts';

/** Returns the record that lists the pod as ready since it is, the oldest of them. */
export function recordOf(
  records: readonly HistoryRecord[],
  pod: string,
  readyAtMs: number,
): HistoryRecord | undefined {
  // kubelet's times are whole seconds.
  return records.find((r) => effectiveMs(r) + 1_000 > readyAtMs && r.changes.some((c) => makesReady(c, pod)));
}

const makesReady = ({ pod, moves }: PodMoves, wanted: string): boolean =>
  pod === wanted && moves.some(({ from, to }) => to?.startsWith('ready') && !from?.startsWith('ready'));

export function runSteps(record: HistoryRecord): readonly Step[] {
  const { seenMs, dueMs, atMs, acceptedMs, endedMs, by } = record;
  const seen = seenMs === undefined ? [] : [done('Seen', 'the relay saw it', seenMs)];
  // Another client wrote, and the relay saw what it wrote.
  if (by !== undefined) return [...seen, done('Served', `the relay saw it in the objects of ${by}`, endedMs)];
  return [
    ...seen,
    ...(dueMs === undefined ? [] : [done('Stored', 'the hub had stored it, and a run was due', dueMs)]),
    done('Run', 'the run began', atMs),
    ...(acceptedMs === undefined
      ? []
      : [done('Written', 'the API server had accepted the write', acceptedMs)]),
  ];
}
