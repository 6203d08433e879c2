/** The meaning of numbers and entries of a pod log (pod-log.ts has the picture). Pure. */
import type { PodLogLimits } from '#shared/contract/ingest-limits.ts';

export interface LogEntry {
  readonly number: number;
  /** Names of the written Pods. Undefined means any Pod of the namespace. */
  readonly names: readonly string[] | undefined;
}

/** Returns the newest number up to which every number has its entry. `entries` are the entries after `watermark`, in order. */
export function watermarkAfter(watermark: number, entries: readonly LogEntry[]): number {
  let last = watermark;
  for (const { number } of entries) {
    if (number !== last + 1) break;
    last = number;
  }
  return last;
}

/** Returns the names of the Pods to read, or undefined if the whole namespace must be read or is cheaper to read. */
export function podsToRead(entries: readonly LogEntry[], { maxChanged }: PodLogLimits): readonly string[] | undefined {
  if (entries.length > maxChanged || entries.some((e) => !e.names)) return undefined;
  const names = new Set(entries.flatMap((e) => e.names ?? []));
  return names.size <= maxChanged ? [...names] : undefined;
}
