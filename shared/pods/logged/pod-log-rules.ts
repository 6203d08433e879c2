/** The meaning of numbers and entries of a pod log (pod-log.ts has the picture). Pure. */
import type { PodLogLimits } from '#shared/contract/ingest-limits.ts';

export interface LogEntry {
  readonly number: number;
  /** Names of the Pods that were written; undefined: any of the namespace's. */
  readonly names: readonly string[] | undefined;
}

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
export function podsToRead(entries: readonly LogEntry[], { maxChanged }: PodLogLimits): readonly string[] | undefined {
  if (entries.length > maxChanged || entries.some((e) => !e.names)) return undefined;
  const names = new Set(entries.flatMap((e) => e.names ?? []));
  return names.size <= maxChanged ? [...names] : undefined;
}
