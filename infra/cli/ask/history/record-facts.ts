/** Facts of a record about the state before and after its run. */
import { cutShort, type HistoryRecord } from '#shared/controllers/history/history-record.ts';

export const followsCutShort = ({ gap }: HistoryRecord): boolean => gap?.startsWith(cutShort) ?? false;

/** Returns the time since which the API server has the changes of the record. */
export const effectiveMs = ({ acceptedMs, endedMs }: HistoryRecord): number => acceptedMs ?? endedMs;

/** Returns true if the run read or wrote the Service's outputs in the cluster. */
export const isOfCluster = ({ writes, changes, more, isFirst, writer }: HistoryRecord): boolean =>
  writes.endpoints + writes.slices + changes.length + more > 0 || isFirst === true || writer !== undefined;
