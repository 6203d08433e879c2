/** What numbers and entries of a pod log mean (pod-log.ts has the picture). Pure. */
import type { PodLogLimits } from '#shared/contract/ingest-limits.ts';

export interface LogEntry {
  readonly number: number;
  /** Names of the Pods that were written; undefined: any of the namespace's. */
  readonly names: readonly string[] | undefined;
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
  /** The newest number that was taken; 0: none, and the namespace has no log. */
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
