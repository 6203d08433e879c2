/**
 * Where a new record goes. The newest records of a service lie in its work item, which each run writes anyway; when they no longer fit there, they
 * go into an item of their own, which is one write for many runs.
 */
import type { HistoryRecord } from './history-record.ts';
import { encodeRecords } from './text.ts';

/** How the newest records are stored beside the work item: `pack` gives the bytes that are billed. */
export interface Journal {
  /** What the work item holds now. */
  readonly kept: readonly HistoryRecord[];
  /** Bytes that the work item has for it. */
  readonly room: number;
  readonly pack: (text: string) => Uint8Array;
}

export interface Appended {
  /** For the work item. */
  readonly kept: readonly HistoryRecord[];
  readonly packed: Uint8Array | undefined;
  /** For an item of their own; undefined: nothing. */
  readonly chunk: readonly HistoryRecord[] | undefined;
}

export function append({ kept, room, pack }: Journal, record: HistoryRecord): Appended {
  const last = kept.at(-1);
  const joined = last && isLike(last, record) ? [...kept.slice(0, -1), repeated(last, record)] : [...kept, record];
  const fits = (records: readonly HistoryRecord[]): Uint8Array | undefined => {
    const packed = pack(encodeRecords(records));
    return packed.byteLength <= room ? packed : undefined;
  };
  const all = fits(joined);
  if (all) return { kept: joined, packed: all, chunk: undefined };
  const alone = kept.length > 0 ? fits([record]) : undefined;
  if (alone) return { kept: [record], packed: alone, chunk: kept };
  return { kept: [], packed: undefined, chunk: joined };
}

/** Runs in a row that were held back, or failed, for the same reason and changed nothing: a cluster that is away for an hour is one line. */
function isLike(a: HistoryRecord, b: HistoryRecord): boolean {
  const isQuiet = (r: HistoryRecord): boolean =>
    r.writes.endpoints + r.writes.slices === 0 && r.changes.length + r.more === 0 && r.gap === undefined && r.notes.length === 0;
  return isQuiet(a) && isQuiet(b) && a.heldBack === b.heldBack && JSON.stringify(a.endings) === JSON.stringify(b.endings);
}

const repeated = (first: HistoryRecord, last: HistoryRecord): HistoryRecord => ({
  ...first,
  endedMs: last.endedMs,
  times: first.times + last.times,
  untilMs: last.untilMs,
});
