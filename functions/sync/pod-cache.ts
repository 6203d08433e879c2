import type { Pod } from '#shared/kube/types.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import { decodeObjectOf, isAlive, type ObjectRecord, readObject, readObjects } from '#shared/snapshot/objects.ts';
import { logPods, maxAgeMs, podLogHead, readPodLog } from '#shared/snapshot/pod-log.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { Version } from '#shared/snapshot/version.ts';

/** With more pods to read than this, the whole namespace is read. */
const mostChanged = 200;
/** Pods that a worker keeps in all; the namespace that was used longest ago goes first. */
const mostKept = 60_000;

interface Kept {
  /** Of the cluster: with a new one the numbers of the log may have begun anew. */
  readonly incarnation: number;
  readonly pods: Map<string, Pod>;
  /** Every entry of the log up to this number is in `pods`. */
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
  podsOf(table: Table, cluster: string, namespace: string, now: number, incarnation?: number): Promise<ReadonlyMap<string, Pod>>;
}

/** The pods of namespaces, kept by a warm worker and brought up to date by their log before each use. */
export class PodCache implements Pods {
  readonly #namespaces = new Map<string, Kept>();

  async podsOf(table: Table, cluster: string, namespace: string, now: number, incarnation = 0): Promise<ReadonlyMap<string, Pod>> {
    const key = `${cluster}/${namespace}`;
    const former = this.#namespaces.get(key);
    const kept: Kept =
      former?.incarnation === incarnation
        ? former
        : {
            incarnation,
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
    if (kept.watermark >= 0 && now - kept.readAt < maxAgeMs) {
      const entries = await readPodLog(table, cluster, namespace, kept.watermark);
      const names = new Set(entries.flatMap((e) => e.names ?? []));
      if (entries.every((e) => e.names) && names.size <= mostChanged && entries.length <= mostChanged) {
        const records = await concurrently(16, [...names], (name) => readObject(table, cluster, 'Pod', namespace, name));
        for (const [i, name] of [...names].entries()) apply(kept.pods, name, records[i]);
        await logOwed(kept, records, table, cluster, namespace, now);
        for (const { number } of entries) {
          if (number !== kept.watermark + 1) break;
          kept.watermark = number;
        }
        return;
      }
    }
    const head = await podLogHead(table, cluster, namespace);
    const records = await readObjects(table, cluster, 'Pod', namespace);
    kept.pods.clear();
    for (const record of records) apply(kept.pods, record.name, record);
    await logOwed(kept, records, table, cluster, namespace, now);
    kept.watermark = head;
    kept.readAt = now;
  }

  #evict(used: string): void {
    let sum = 0;
    for (const { pods } of this.#namespaces.values()) sum += pods.size;
    for (const [key, { pods }] of this.#namespaces) {
      if (sum <= mostKept) return;
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

/**
 * A version that is still owed may not have been logged, if its writer died. What is done on its word must not be undone by a worker whose
 * pods are older, so whoever has seen it logs it.
 */
async function logOwed(
  kept: Kept,
  records: readonly (ObjectRecord | undefined)[],
  table: Table,
  cluster: string,
  namespace: string,
  now: number,
): Promise<void> {
  const owed = records.filter((r) => r?.past !== undefined) as readonly ObjectRecord[];
  const unlogged = owed.filter((r) => kept.logged.get(r.name) !== r.version);
  if (unlogged.length > 0) await logPods(table, cluster, namespace, new Set(unlogged.map((r) => r.name)), now);
  kept.logged.clear();
  for (const r of owed) kept.logged.set(r.name, r.version);
}
