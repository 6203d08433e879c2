import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import { decodeObjectOf, isAlive, type ObjectRecord, readObject, readObjects } from '#shared/store/objects.ts';
import { type PodLogEntry, readLogEntries, readLogHead, takeLogNumber, writeLogEntry } from '#shared/store/pod-log.ts';
import type { Table } from '#shared/store/table.ts';
import type { Version } from '#shared/store/version.ts';

interface Kept {
  /** `ClusterRecord.cacheScope`: with another one the numbers of the log may have begun anew. */
  readonly scope: string;
  readonly pods: Map<string, Pod>;
  /** Every entry of the log up to this number is there, and in `pods`. */
  watermark: number;
  readAt: number;
  /** Versions of pods that were logged from here. */
  readonly logged: Map<string, Version>;
  /** A reading that is under way, and the one after it, which whoever comes now may share: it begins after they asked. */
  running: Promise<void>;
  next: Promise<void> | undefined;
}

export interface Pods {
  /** As of now or later: the strong reads behind it begin after the call. The map is not the caller's and changes with the next call. */
  podsOf(table: Table, cluster: string, namespace: string, now: number, scope?: string): Promise<ReadonlyMap<string, Pod>>;
}

/** The pods of namespaces, kept by a warm worker and brought up to date by their log before each use. */
export class PodCache implements Pods {
  readonly #limits: PodLogLimits;
  readonly #namespaces = new Map<string, Kept>();

  constructor(limits: PodLogLimits = podLogDefaults) {
    this.#limits = limits;
  }

  async podsOf(table: Table, cluster: string, namespace: string, now: number, scope = ''): Promise<ReadonlyMap<string, Pod>> {
    const key = `${cluster}/${namespace}`;
    const former = this.#namespaces.get(key);
    const kept: Kept =
      former?.scope === scope
        ? former
        : {
            scope,
            pods: new Map(),
            watermark: -1,
            readAt: 0,
            logged: new Map(),
            running: Promise.resolve(),
            next: undefined,
          };
    this.#namespaces.delete(key);
    this.#namespaces.set(key, kept);
    // One at a time: a slow reading must not put an older pod over a newer one.
    kept.next ??= kept.running
      .catch(() => {})
      .then(() => {
        kept.next = undefined;
        kept.running = this.#refresh(kept, table, cluster, namespace, now);
        return kept.running;
      });
    try {
      await kept.next;
    } catch (error) {
      kept.watermark = -1;
      throw error;
    }
    this.#evict(key);
    return kept.pods;
  }

  async #refresh(kept: Kept, table: Table, cluster: string, namespace: string, now: number): Promise<void> {
    const { maxAgeMs, mostChanged } = this.#limits;
    if (kept.watermark >= 0 && now - kept.readAt < maxAgeMs) {
      const entries = await readLogEntries({ table, cluster }, namespace, kept.watermark);
      const names = new Set(entries.flatMap((e) => e.names ?? []));
      if (entries.every((e) => e.names) && names.size <= mostChanged && entries.length <= mostChanged) {
        const records = await concurrently(16, [...names], (name) => readObject({ table, cluster }, 'Pod', namespace, name));
        for (const [i, name] of [...names].entries()) apply(kept.pods, name, records[i]);
        await logUnlogged(kept, records, kept.watermark, entries, table, cluster, namespace, now, this.#limits);
        kept.watermark = lastWithoutGap(kept.watermark, entries);
        return;
      }
    }
    // Before the pods: every entry that is in it tells of pods that are read here.
    const head = await readLogHead({ table, cluster }, namespace, now, this.#limits);
    const entries = await readLogEntries({ table, cluster }, namespace, head.settled);
    const records = await readObjects({ table, cluster }, 'Pod', namespace);
    kept.pods.clear();
    for (const record of records) apply(kept.pods, record.name, record);
    await logUnlogged(kept, records, head.settled, entries, table, cluster, namespace, now, this.#limits);
    // Not beyond the head: a writer that had come so far and takes a second number takes one above it.
    kept.watermark = Math.min(head.number, lastWithoutGap(head.settled, entries));
    kept.readAt = now;
  }

  #evict(used: string): void {
    let sum = 0;
    for (const { pods } of this.#namespaces.values()) sum += pods.size;
    for (const [key, { pods }] of this.#namespaces) {
      if (sum <= this.#limits.mostKept) return;
      if (key === used) continue;
      this.#namespaces.delete(key);
      sum -= pods.size;
    }
  }
}

function apply(pods: Map<string, Pod>, name: string, record: ObjectRecord | undefined): void {
  const pod = isAlive(record) ? decodeObjectOf('Pod', record) : undefined;
  if (pod) pods.set(name, pod);
  else pods.delete(name);
}

/** The newest number up to which no writer is missing. */
function lastWithoutGap(from: number, entries: readonly PodLogEntry[]): number {
  let last = from;
  for (const { number } of entries) {
    if (number !== last + 1) break;
    last = number;
  }
  return last;
}

/**
 * A writer may die between a pod and the log. What is done on the word of such a pod must not be undone by a worker whose pods are older, so
 * whoever has seen it logs it. Every entry after `from` is in `entries`; whatever has a number up to `from` was logged. One that is logged
 * meanwhile is logged twice.
 */
async function logUnlogged(
  kept: Kept,
  records: readonly (ObjectRecord | undefined)[],
  from: number,
  entries: readonly PodLogEntry[],
  table: Table,
  cluster: string,
  namespace: string,
  now: number,
  limits: PodLogLimits,
): Promise<void> {
  const there = new Set(entries.map((e) => e.number));
  const seen = records.filter((r) => r?.logNumber !== undefined && r.logNumber > from && !there.has(r.logNumber)) as readonly ObjectRecord[];
  const unlogged = seen.filter((r) => kept.logged.get(r.name) !== r.version);
  if (unlogged.length > 0) {
    const taken = await takeLogNumber({ table, cluster }, namespace, now);
    // Its pods were read before it was taken: whoever gives the number up reads them as well.
    await writeLogEntry({ table, cluster }, namespace, { taken, names: new Set(unlogged.map((r) => r.name)) }, limits);
  }
  kept.logged.clear();
  for (const r of seen) kept.logged.set(r.name, r.version);
}
