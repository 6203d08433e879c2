import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { confirmEntry, type LoggedPods, putLogEntry, takeLogNumber, takeNextLogNumber, type WrittenPods } from './pod-log.ts';
import type { TakenNumber } from './pod-log-rules.ts';

/** One batch as a writer of the pod logs of its namespaces (pod-log.ts): one number and one entry for each namespace. */
export class PodLogWriter {
  readonly #store: ClusterStore;
  readonly #now: () => number;
  readonly #limits: PodLogLimits;
  readonly #numbers = new Map<string, Promise<TakenNumber>>();
  /** Numbers that were taken before the cluster's record was read; undefined: the namespace has no log, or the time was too old. */
  readonly #ahead = new Map<string, Promise<TakenNumber | undefined>>();
  /** Names of the Pods to log, by namespace. Undefined: the entry names none, and its readers read the whole namespace. */
  readonly #names = new Map<string, Set<string> | undefined>();
  readonly #entries = new Map<string, WrittenPods>();

  constructor(store: ClusterStore, now: () => number, limits: PodLogLimits = podLogDefaults) {
    this.#store = store;
    this.#now = now;
    this.#limits = limits;
  }

  /** Takes the number of the batch's entry. To be called before the first of the namespace's Pods is written. */
  async takeNumber(namespace: string): Promise<void> {
    await this.#take(namespace);
  }

  /**
   * Takes the number while the batch still reads the records that it needs before it writes. Only if the namespace has a log already: so nothing is written
   * of a cluster that was removed.
   */
  takeAhead(namespace: string): void {
    if (this.#ahead.has(namespace)) return;
    this.#ahead.set(
      namespace,
      takeNextLogNumber(this.#store, namespace, this.#now(), this.#limits).catch(() => undefined),
    );
  }

  #take(namespace: string): Promise<TakenNumber> {
    const takeNow = (): Promise<TakenNumber> => takeLogNumber(this.#store, namespace, this.#now(), this.#limits);
    const ahead = this.#ahead.get(namespace);
    const number = this.#numbers.get(namespace) ?? (ahead ? ahead.then((taken) => taken ?? takeNow()) : takeNow());
    this.#numbers.set(namespace, number);
    return number;
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

  /** Writes the entries. */
  async writeEntries(): Promise<void> {
    const ahead = await Promise.all([...this.#ahead].map(async ([namespace, taken]) => ((await taken) ? namespace : undefined)));
    const namespaces = [...new Set([...ahead.filter((n) => n !== undefined), ...this.#numbers.keys(), ...this.#names.keys()])];
    await concurrently(16, namespaces, async (namespace) => {
      // A number that was taken and not used needs an entry too, or readers would wait for it.
      const names = this.#names.has(namespace) ? this.#names.get(namespace) : new Set<string>();
      const entry = { taken: await this.#take(namespace), names };
      await putLogEntry(this.#store, namespace, entry, this.#limits);
      this.#entries.set(namespace, entry);
    });
  }

  /** By namespace, when its entry is written: whether it had to be written again, and the version of the set of services, read after that. */
  async confirmEntries(): Promise<ReadonlyMap<string, LoggedPods>> {
    const options = { now: this.#now, limits: this.#limits };
    return new Map(
      await concurrently(16, [...this.#entries], async ([namespace, entry]) => {
        return [namespace, await confirmEntry(this.#store, namespace, entry, options)] as const;
      }),
    );
  }
}
