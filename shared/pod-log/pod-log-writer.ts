import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import {
  confirmEntry,
  confirmUnlogged,
  hasLog,
  type LoggedPods,
  putLogEntry,
  takeLogNumber,
  takeNextLogNumber,
  type WrittenPods,
} from './pod-log.ts';
import type { TakenNumber } from './pod-log-rules.ts';

/** Namespaces that were found to have a log, by "cluster/namespace": a hint, which may be of a table that was lost. A warm worker keeps it. */
export interface LoggedNamespaces {
  get(key: string): true | undefined;
  set(key: string, value: true): void;
}

/** One batch as a writer of the pod logs of its namespaces (pod-log.ts): one number and one entry for each namespace that has a log. */
export class PodLogWriter {
  readonly #store: ClusterStore;
  readonly #now: () => number;
  readonly #limits: PodLogLimits;
  readonly #hints: LoggedNamespaces;
  /** Undefined: the namespace had no log when the batch looked. */
  readonly #numbers = new Map<string, Promise<TakenNumber | undefined>>();
  /** Numbers that were taken before the cluster's record was read; undefined: the namespace has no log, or the time was too old. */
  readonly #ahead = new Map<string, Promise<TakenNumber | undefined>>();
  /** Whether a namespace has a log, read before the cluster's record was. */
  readonly #looks = new Map<string, Promise<boolean>>();
  /** Names of the Pods to log, by namespace. Undefined: the entry names none, and its readers read the whole namespace. */
  readonly #names = new Map<string, Set<string> | undefined>();
  readonly #entries = new Map<string, WrittenPods>();

  constructor(store: ClusterStore, now: () => number, limits: PodLogLimits = podLogDefaults, hints: LoggedNamespaces = new Map()) {
    this.#store = store;
    this.#now = now;
    this.#limits = limits;
    this.#hints = hints;
  }

  /** Takes the number of the batch's entry, where there is a log. To be called before the first of the namespace's Pods is written. */
  async takeNumber(namespace: string): Promise<void> {
    await this.#take(namespace);
  }

  /**
   * Takes the number while the batch still reads the records that it needs before it writes, or looks whether there is one to take. Only if the namespace has
   * a log already: so nothing is written of a cluster that was removed. A condition that fails costs as much as a write, so without the hint it only looks.
   */
  takeAhead(namespace: string): void {
    if (this.#ahead.has(namespace) || this.#looks.has(namespace)) return;
    if (this.#hints.get(this.#keyOf(namespace))) {
      this.#ahead.set(
        namespace,
        takeNextLogNumber(this.#store, namespace, this.#now(), this.#limits).catch(() => undefined),
      );
      return;
    }
    const look = hasLog(this.#store, namespace);
    look.catch(() => {});
    this.#looks.set(namespace, look);
  }

  #take(namespace: string): Promise<TakenNumber | undefined> {
    const number = this.#numbers.get(namespace) ?? this.#takeNow(namespace);
    this.#numbers.set(namespace, number);
    return number;
  }

  async #takeNow(namespace: string): Promise<TakenNumber | undefined> {
    const ahead = await this.#ahead.get(namespace);
    if (ahead) return ahead;
    if (!(await (this.#looks.get(namespace) ?? hasLog(this.#store, namespace)))) return undefined;
    this.#hints.set(this.#keyOf(namespace), true);
    return takeLogNumber(this.#store, namespace, this.#now(), this.#limits);
  }

  #keyOf(namespace: string): string {
    return `${this.#store.cluster}/${namespace}`;
  }

  /** This batch is about to write the Pod; or another one has written it, which may have crashed before it wrote its entry. */
  record(namespace: string, name: string): void {
    if (!this.#names.has(namespace)) this.#names.set(namespace, new Set());
    this.#names.get(namespace)?.add(name);
  }

  /** A list tells of the whole namespace. */
  recordAll(namespace: string): void {
    this.#names.set(namespace, undefined);
  }

  /** Writes the entries of namespaces that have a log. */
  async writeEntries(): Promise<void> {
    const ahead = await Promise.all([...this.#ahead].map(async ([namespace, taken]) => ((await taken) ? namespace : undefined)));
    const namespaces = [...new Set([...ahead.filter((n) => n !== undefined), ...this.#numbers.keys(), ...this.#names.keys()])];
    await concurrently(16, namespaces, async (namespace) => {
      const taken = await this.#take(namespace);
      if (!taken) return;
      // A number that was taken and not used needs an entry too, or readers would wait for it.
      const entry = { taken, names: this.#names.has(namespace) ? this.#names.get(namespace) : new Set<string>() };
      await putLogEntry(this.#store, namespace, entry, this.#limits);
      this.#entries.set(namespace, entry);
    });
  }

  /**
   * By namespace, when its entry is written, or its Pods are without one: whether an entry had to be written again, or late, and the version of the set of
   * services, read after the Pods were written.
   */
  async confirmEntries(): Promise<ReadonlyMap<string, LoggedPods>> {
    const options = { now: this.#now, limits: this.#limits };
    return new Map(
      await concurrently(16, [...new Set([...this.#entries.keys(), ...this.#names.keys()])], async (namespace) => {
        const entry = this.#entries.get(namespace);
        if (entry) return [namespace, await confirmEntry(this.#store, namespace, entry, options)] as const;
        const confirmed = await confirmUnlogged(this.#store, namespace, this.#names.get(namespace), options);
        if (confirmed.isLoggedAgain) this.#hints.set(this.#keyOf(namespace), true);
        return [namespace, confirmed] as const;
      }),
    );
  }
}
