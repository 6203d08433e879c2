/** The reasons why the addresses at a time are not known. */
import { effectiveMs, type HistoryRecord, isOfCluster } from './history-record.ts';
import { timeText } from './sentences.ts';

/** Facts about the Service and its cluster that the records lack. */
export interface Standing {
  /** Since when records of the cluster are kept, ms since the epoch. */
  readonly keptSinceMs: number;
  readonly switches: SwitchesAsked;
  /** The hub has outputs of its own saved as present, as the switches were. */
  readonly hasOutputs: boolean;
  /** Why the hub does not write the Service as it is now, with the switches as they were; undefined: it does, or the Service is gone. */
  readonly whyNotNow: string | undefined;
}

/** How the cluster's switches stood at the time. */
export interface SwitchesAsked {
  /** The mode, or the one before a pause; undefined: not on file. */
  readonly unpaused: string | undefined;
  /** Since when, ms since the epoch; undefined: not on file. */
  readonly sinceMs: number | undefined;
  readonly optIn: string;
}

const notKept = 'the hub writes nothing there and keeps no history';

/** `records`: every record, oldest first. Returns undefined if the addresses are known. */
export function whyNotKnown(
  records: readonly HistoryRecord[],
  { keptSinceMs, switches, hasOutputs, whyNotNow }: Standing,
  atMs: number,
): string | undefined {
  const ofCluster = records.filter(isOfCluster);
  const last = ofCluster.findLast((r) => effectiveMs(r) <= atMs);
  const next = ofCluster.find((r) => effectiveMs(r) > atMs);
  if (atMs < keptSinceMs) return beginsAt(keptSinceMs);
  const mode = switches.unpaused;
  if (mode === undefined) return 'no audit record says which mode the cluster was in';
  if (mode === 'draining' || mode === 'removed') return `the cluster was ${mode}${since(switches.sinceMs)}: ${notKept}`;
  if (last?.writer === 'built-in') {
    const isHandedBack = (last.deletes?.slices ?? 0) > 0;
    return `served by the built-in controllers since ${timeText(effectiveMs(last))}${isHandedBack ? ' (handed back)' : ' at the latest'}; the hub keeps no history of those`;
  }
  if (last?.writer === 'none') return `nothing writes it since ${timeText(effectiveMs(last))}: the Service was deleted, or its slices were withdrawn`;
  if (mode === 'shadow' && switches.optIn !== 'active') return `the cluster was in shadow mode${since(switches.sinceMs)}: ${notKept}`;
  if (!last && next?.isFirst) return beginsAt(effectiveMs(next));
  if (mode === 'shadow' && !(last ? last.writer === 'opt-in' : next ? wasOurs(next) : hasOutputs))
    return 'no record has the hub as its writer, in a cluster in shadow mode; the hub keeps no history of the built-in controllers';
  if (!last && !next && !hasOutputs) return whyNotNow ?? 'the hub has written nothing of it';
  return next || whyNotNow === undefined ? undefined : `the hub does not write it as it is now, since when is not on record: ${whyNotNow}`;
}

/** The run is of a Service that opts in, or has withdrawn its slices. */
const wasOurs = ({ writer, deletes }: HistoryRecord): boolean => writer === 'opt-in' || (deletes?.slices ?? 0) > 0;

const beginsAt = (ms: number): string => `the record begins at ${timeText(ms)}`;

const since = (ms: number | undefined): string => (ms === undefined ? '' : ` since ${timeText(ms)}`);
