/** Reads the names of objects without their projections, because a relay can create any number of them. */
import type { ClustersetKind, InputKind } from '#shared/kube/types.ts';
import type { ClusterStore } from '../cluster-store.ts';
import { escaped, namespaceRange, objectOfKey, objectsOf } from '../keys.ts';
import { keysIn } from '../pages.ts';
import type { Item, KeyRange } from '../table.ts';

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
  const counts = { namespace: '', found: 0, total: 0 };
  for (let from: string | undefined = ''; from !== undefined; ) {
    const page: readonly Item[] = await table.query(pk, { from, atMost: namesAtOnce, only: [] });
    from = page[namesAtOnce - 1]?.sk;
    for (const name of page.map(({ sk }) => objectOfKey(kind, '', sk))) {
      if (!isNext(counts, name, inNamespace)) {
        from = afterNamespace(name.namespace);
        break;
      }
      yield name;
      if (counts.total >= inCluster) return;
    }
  }
}

interface Counts {
  namespace: string;
  found: number;
  total: number;
}

/** Counts the name, if its namespace has not had all of its names. */
function isNext(counts: Counts, { namespace }: ObjectName, inNamespace: number): boolean {
  counts.found = namespace === counts.namespace ? counts.found + 1 : 1;
  counts.namespace = namespace;
  if (counts.found > inNamespace) return false;
  counts.total++;
  return true;
}

/** The byte after "/" is "0". */
const afterNamespace = (namespace: string): string => `${escaped(namespace)}0`;
