import type { InputKind } from '#shared/kube/types.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import { logPods } from '#shared/snapshot/pod-log.ts';
import type { Table } from '#shared/snapshot/table.ts';

/** The pods that a batch has written, by namespace, to be logged for the workers that keep them (pod-log.ts). */
export class WrittenPods {
  /** Undefined: too many to name, or a list that spoke of the namespace. */
  readonly #namespaces = new Map<string, Set<string> | undefined>();

  /** What to tell of each object of the kind that was written. */
  noteOf(kind: InputKind): (namespace: string, name: string) => void {
    if (kind !== 'Pod') return () => {};
    return (namespace, name) => {
      if (!this.#namespaces.has(namespace)) this.#namespaces.set(namespace, new Set());
      this.#namespaces.get(namespace)?.add(name);
    };
  }

  noteAll(namespace: string): void {
    this.#namespaces.set(namespace, undefined);
  }

  /** Logs them; the version of each namespace's set of services as of after the pods were written. */
  async log(table: Table, cluster: string, now: number): Promise<ReadonlyMap<string, number>> {
    const versions = await concurrently(
      16,
      [...this.#namespaces],
      async ([namespace, names]) => [namespace, await logPods(table, cluster, namespace, names, now)] as const,
    );
    return new Map(versions);
  }
}
