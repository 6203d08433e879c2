/** Reads the names of objects without their projections, because a relay can create any number of them. */
import type { ClustersetKind, InputKind } from '#shared/kube/types.ts';
import type { ClusterStore } from '../cluster-store.ts';
import { escaped, namespaceRange, objectOfKey, objectsOf } from '../keys.ts';
import { keysIn } from '../pages.ts';
import type { KeyRange } from '../table.ts';

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** Yields the names in one namespace, or within a range of it, in order, with tombstones. */
export async function* objectNamesIn(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  namespace: string,
  range: KeyRange | undefined = namespaceRange(kind, namespace),
): AsyncGenerator<ObjectName> {
  for await (const sk of keysIn(table, objectsOf(cluster, kind, namespace), range))
    yield objectOfKey(kind, namespace, sk);
}

export interface MostNames {
  readonly inNamespace: number;
  readonly inCluster: number;
}

const namesAtOnce = 1_000;

/**
 * Yields the first names of each namespace of a cluster in order, with tombstones. Names beyond `inNamespace`
 * in a namespace are not read.
 */
export async function* firstNamesOf(
  { table, cluster }: ClusterStore,
  kind: Exclude<ClustersetKind, 'Namespace'>,
  { inNamespace, inCluster }: MostNames,
): AsyncGenerator<ObjectName> {
  const pk = objectsOf(cluster, kind, '');
  let [namespace, found, total] = ['', 0, 0];
  for (let from = ''; ; ) {
    const page = await table.query(pk, { from, atMost: namesAtOnce, only: [] });
    let next = page.length < namesAtOnce ? undefined : page.at(-1)?.sk;
    for (const { sk } of page) {
      const name = objectOfKey(kind, '', sk);
      if (name.namespace !== namespace) [namespace, found] = [name.namespace, 0];
      if (++found > inNamespace) {
        // The byte after "/" is "0".
        next = `${escaped(namespace)}0`;
        break;
      }
      yield name;
      if (++total >= inCluster) return;
    }
    if (next === undefined) return;
    from = next;
  }
}
