/** What numbers and entries of a pod log mean (pod-log.ts has the picture). Pure. */
import type { PodLogLimits } from '#shared/contract/ingest-limits.ts';

export interface LogEntry {
  readonly number: number;
  /** Names of the Pods that were written; undefined: any of the namespace's. */
  readonly names: readonly string[] | undefined;
  /** When its writer took the number, to the second. */
  readonly takenAtMs: number;
}

/** A number that a writer has taken. */
export interface TakenNumber {
  readonly number: number;
  readonly takenAtMs: number;
  /** When the number before it was taken; 0 for the first. */
  readonly formerTakenAtMs: number;
}

/** The numbers of a log, as the namespace's item has them. */
export interface LogHead {
  /** The newest number that was taken; 0: none. */
  readonly number: number;
  readonly takenAtMs: number;
  /** A writer has said that no writer of a number up to this one is in flight. */
  readonly settled: number;
}

/**
 * Highest number with no writer in flight. Entries up to it are not waited for: one that is missing has expired, or its writer crashed. A writer is
 * no longer in flight once `mostUnderWay` newer numbers are taken, or the newest number is older than `maxAgeMs`.
 */
export function settledNumber({ number, takenAtMs, settled }: LogHead, nowMs: number, { maxAgeMs, mostUnderWay }: PodLogLimits): number {
  return nowMs - takenAtMs > maxAgeMs ? number : Math.max(0, settled, number - mostUnderWay);
}

/**
 * May a reader have settled the number before its writer wrote the entry? The writer then has to write it again, under a new number. By half the time,
 * because the writer's clock and a reader's may differ.
 */
export function mayBeSettled({ number, takenAtMs }: TakenNumber, head: number, nowMs: number, { maxAgeMs, mostUnderWay }: PodLogLimits): boolean {
  return head - number >= mostUnderWay || nowMs - takenAtMs > maxAgeMs / 2;
}

/** The number is the first after a pause in which each earlier writer has either written its entry or crashed. */
export const isFirstAfterPause = ({ takenAtMs, formerTakenAtMs }: TakenNumber, { maxAgeMs }: PodLogLimits): boolean =>
  takenAtMs - formerTakenAtMs > maxAgeMs;

/** The newest number up to which each has its entry. `entries`: those after `watermark`, in order. */
export function watermarkAfter(watermark: number, entries: readonly LogEntry[]): number {
  let last = watermark;
  for (const { number } of entries) {
    if (number !== last + 1) break;
    last = number;
  }
  return last;
}

/** The names of the Pods to read, each once; undefined: to read the whole namespace is cheaper, or the only way. */
export function podsToRead(entries: readonly LogEntry[], { mostChanged }: PodLogLimits): readonly string[] | undefined {
  if (entries.length > mostChanged || entries.some((e) => !e.names)) return undefined;
  const names = new Set(entries.flatMap((e) => e.names ?? []));
  return names.size <= mostChanged ? [...names] : undefined;
}

/** Of Pods that were read, those written under a number above `after` that has no entry. `entries`: all above `after`. */
export function withoutEntry<P extends { readonly logNumber?: number | undefined }>(
  pods: readonly P[],
  after: number,
  entries: readonly LogEntry[],
): readonly P[] {
  const logged = new Set(entries.map((e) => e.number));
  return pods.filter(({ logNumber }) => logNumber !== undefined && logNumber > after && !logged.has(logNumber));
}

/** No function runs longer. */
const longestRunMs = 900_000;

/**
 * From which number on a Pod without an entry is looked for: `settled`, or less where the writer of a settled number may be in flight still. Others have
 * overtaken it then, and it will write its entry again; but workers that wait for the first one do not know its Pods, and would undo what this run does
 * because of them. `entries`: those above `after`, in order.
 */
export function overtakenSince(head: LogHead, settled: number, after: number, { entries, nowMs }: EntriesRead): number {
  const young = entries.findIndex((e) => nowMs - e.takenAtMs < longestRunMs);
  if (young < 0) return settled;
  return Math.min(settled, Math.max(head.settled, entries[young - 1]?.number ?? after));
}

export interface EntriesRead {
  readonly entries: readonly LogEntry[];
  readonly nowMs: number;
}
