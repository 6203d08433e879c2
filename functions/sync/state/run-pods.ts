/**
 * The Pods of a run. What the outputs say of a Pod the run changes only by a record that was read since its reads began (prefetch.ts), after each earlier run.
 * The worker's Pods may be older than those that an earlier run of another worker went by (shared/pod-log/pod-log.ts), and would undo what that run did.
 */
import { concurrently } from '#shared/concurrently.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { KeptPods } from '#shared/pod-log/pod-cache.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { decodeObjectOf, readObject, readObjects } from '#shared/store/objects.ts';
import { type RequeueDeps, requeueRun } from './requeue.ts';

/** Pods as they were read for a run. */
export interface ReadPods {
  /** All of the namespace. */
  readonly pods: readonly Pod[];
  /** Names of Pods that were read since the run's reads began (`KeptPods.read`). */
  readonly read: KeptPods['read'];
}

export interface PodsOfRun extends ReadPods, RequeueDeps {
  readonly store: ClusterStore;
  readonly namespace: string;
  /** Those of `pods` that the service selects. */
  readonly selected: readonly Pod[];
  readonly isSelected: (pod: Pod) => boolean;
  /** With more Pods to read, the whole namespace is. */
  readonly mostReads: number;
}

export class RunPods {
  readonly #of: PodsOfRun;
  #all: readonly Pod[];
  #selected: readonly Pod[];
  #read: Set<string> | 'all';
  #reading: Promise<void> = Promise.resolve();

  constructor(of: PodsOfRun) {
    this.#of = of;
    this.#all = of.pods;
    this.#selected = of.selected;
    this.#read = of.read === 'all' ? 'all' : new Set(of.read);
  }

  /** The Pods of the namespace, as this run knows them by now. */
  get all(): readonly Pod[] {
    return this.#all;
  }

  /** Of these the ones that the service selects. */
  get selected(): readonly Pod[] {
    return this.#selected;
  }

  /** Plans, reads the Pods that the plan changes and that were not read since the run's reads began, and plans again if one of them is another than it was. */
  async plan<P>(planWith: (pods: readonly Pod[]) => P, changesOf: (plan: P) => ReadonlySet<string>): Promise<P> {
    for (;;) {
      const plan = planWith(this.#selected);
      if (await this.areAsKnown(changesOf(plan))) return plan;
    }
  }

  /** Reads those of the Pods that were not read since the run's reads began. False: the service selects others than before the call. */
  async areAsKnown(names: ReadonlySet<string> | 'all'): Promise<boolean> {
    const pods = this.#selected;
    // One after the other: both controllers mostly ask for the same Pods.
    const read = this.#reading.then(() => this.#readUnread(names));
    this.#reading = read.catch(() => {});
    try {
      await read;
    } catch (error) {
      throw requeueRun(this.#of, 'podsUnreadable', { reason: `Pods could not be read: ${String(error)}` });
    }
    return pods === this.#selected;
  }

  async #readUnread(names: ReadonlySet<string> | 'all'): Promise<void> {
    const { store, namespace, isSelected, mostReads } = this.#of;
    const read = this.#read;
    if (read === 'all') return;
    const unread = names === 'all' ? [] : [...names].filter((name) => !read.has(name));
    if (names !== 'all' && unread.length === 0) return;
    if (names === 'all' || unread.length > mostReads) {
      const records = await readObjects(store, 'Pod', namespace);
      this.#all = records.flatMap((r) => decodeObjectOf('Pod', r) ?? []);
      this.#read = 'all';
      const selected = this.#all.filter(isSelected);
      if (!areSame(selected, this.#selected)) this.#selected = selected;
      return;
    }
    const records = await concurrently(16, unread, (name) => readObject(store, 'Pod', namespace, name));
    const pods = new Map(this.#all.map((p) => [p.metadata.name, p]));
    let isOther = false;
    for (const [i, name] of unread.entries()) {
      read.add(name);
      const [before, pod] = [pods.get(name), decodeObjectOf('Pod', records[i])];
      if (JSON.stringify(pod) === JSON.stringify(before)) continue;
      isOther ||= [before, pod].some((p) => p !== undefined && isSelected(p));
      if (pod) pods.set(name, pod);
      else pods.delete(name);
    }
    this.#all = [...pods.values()];
    if (isOther) this.#selected = this.#all.filter(isSelected);
  }
}

function areSame(pods: readonly Pod[], others: readonly Pod[]): boolean {
  const texts = new Map(others.map((p) => [p.metadata.name, JSON.stringify(p)]));
  return pods.length === others.length && pods.every((p) => texts.get(p.metadata.name) === JSON.stringify(p));
}
