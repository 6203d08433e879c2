import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { logPods, takeLogNumber } from './pod-log.ts';
import type { TakenNumber } from './pod-log-rules.ts';

/** One batch as a writer of the pod logs of its namespaces (pod-log.ts): one number and one entry for each namespace. */
export class PodLogWriter {
  readonly #store: ClusterStore;
  readonly #now: () => number;
  readonly #limits: PodLogLimits;
  readonly #numbers = new Map<string, Promise<TakenNumber>>();
  /** Names of the Pods to log, by namespace. Undefined: the entry names none, and its readers read the whole namespace. */
  readonly #names = new Map<string, Set<string> | undefined>();

  constructor(store: ClusterStore, now: () => number, limits: PodLogLimits = podLogDefaults) {
    this.#store = store;
    this.#now = now;
    this.#limits = limits;
  }

  /** The number that the namespace's Pods are written with. It is taken before the first of them is written. */
  async takeNumber(namespace: string): Promise<number> {
    return (await this.#take(namespace)).number;
  }

  #take(namespace: string): Promise<TakenNumber> {
    const number = this.#numbers.get(namespace) ?? takeLogNumber(this.#store, namespace, this.#now());
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

  /** Writes the entries. Resolves to the version of each namespace's set of services, read after the namespace's entry was written. */
  async writeEntries(): Promise<ReadonlyMap<string, number>> {
    const namespaces = [...new Set([...this.#numbers.keys(), ...this.#names.keys()])];
    const versions = await concurrently(16, namespaces, async (namespace) => {
      // A number that was taken and not used needs an entry too, or readers would wait for it.
      const names = this.#names.has(namespace) ? this.#names.get(namespace) : new Set<string>();
      const entry = { taken: await this.#take(namespace), names };
      return [namespace, await logPods(this.#store, namespace, entry, { now: this.#now, limits: this.#limits })] as const;
    });
    return new Map(versions);
  }
}
