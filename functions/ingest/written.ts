import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { beginPodLog, logPods, type TakenNumber } from '#shared/store/pod-log.ts';
import type { Table } from '#shared/store/table.ts';

/** What a batch writes that warm workers keep: pods by namespace, logged (pod-log.ts), and whether there were nodes (raiseNodesVersion). */
export class Written {
  readonly #table: Table;
  readonly #cluster: string;
  readonly #numbers = new Map<string, Promise<TakenNumber>>();
  /** Undefined: too many to name, or a list that spoke of the namespace. */
  readonly #names = new Map<string, Set<string> | undefined>();

  readonly #now: () => number;
  readonly #limits: PodLogLimits;
  #nodes = false;

  constructor(table: Table, cluster: string, now: () => number, limits: PodLogLimits = podLogDefaults) {
    this.#table = table;
    this.#cluster = cluster;
    this.#now = now;
    this.#limits = limits;
  }

  /** The number to write the namespace's pods with: taken before the first of them is written. */
  async begin(namespace: string): Promise<number> {
    return (await this.#take(namespace)).number;
  }

  #take(namespace: string): Promise<TakenNumber> {
    const number = this.#numbers.get(namespace) ?? beginPodLog(this.#table, this.#cluster, namespace, this.#now());
    this.#numbers.set(namespace, number);
    return number;
  }

  /** The object is being written, or was by somebody who may not have lived to log it. */
  note(kind: InputKind, namespace: string, name: string): void {
    // Whatever it changes of a node, and whoever it wakes: it is another set of nodes.
    if (kind === 'Node') this.#nodes = true;
    if (kind !== 'Pod') return;
    if (!this.#names.has(namespace)) this.#names.set(namespace, new Set());
    this.#names.get(namespace)?.add(name);
  }

  noteAll(namespace: string): void {
    this.#names.set(namespace, undefined);
  }

  get nodes(): boolean {
    return this.#nodes;
  }

  /** Logs the pods; the version of each namespace's set of services as of after the pods were written. */
  async log(): Promise<ReadonlyMap<string, number>> {
    const namespaces = [...new Set([...this.#numbers.keys(), ...this.#names.keys()])];
    const versions = await concurrently(16, namespaces, async (namespace) => {
      // A number that was taken and not used is filled too, or readers would wait for it.
      const names = this.#names.has(namespace) ? this.#names.get(namespace) : new Set<string>();
      return [namespace, await logPods(this.#table, this.#cluster, namespace, await this.#take(namespace), names, this.#now, this.#limits)] as const;
    });
    return new Map(versions);
  }
}
