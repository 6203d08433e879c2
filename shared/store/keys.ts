/**
 * The key of every record in the one table (docs/architecture.md, "Records", lists what each one has and who writes it). Names come from
 * messages, so each key escapes the characters that separate its parts, and each reader of a key takes the escapes out. Kubernetes allows none of
 * these characters in a name, and shared/queue/parse.ts refuses them: an escape is the second lock.
 */
import type { ClustersetKind, InputKind, Kind, OutputKind } from '#shared/kube/types.ts';
import type { Key, KeyRange } from './table.ts';

/** A service of a cluster. */
export interface ServiceKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** The name as a part of a key. */
export const escaped = (name: string): string => name.replace(/[%#/]/g, encodeURIComponent);
/** The name that `escaped` made the part of. Never throws: other text comes back as it is. */
export const unescaped = (part: string): string => part.replace(/%(?:25|23|2F)/g, decodeURIComponent);

const partitionOfKind = { Service: 'SVC', Pod: 'POD', Node: 'NODE', Namespace: 'NSO', ServiceExport: 'EXPORT', ServiceImport: 'IMPORT' } as const;
/** All of a cluster are in one partition, in the order of their keys: there are few of them, or they have no namespace. */
const wholeClusters: readonly InputKind[] = ['Node', 'Namespace', 'ServiceExport', 'ServiceImport'] satisfies readonly ('Node' | ClustersetKind)[];
const isNamespacedInOne = (kind: InputKind): boolean => kind === 'ServiceExport' || kind === 'ServiceImport';

export const metaKey = (cluster: string): Key => ({ pk: `CLUSTER#${escaped(cluster)}`, sk: 'META' });
/** Where the cluster's API and queues are, and what shows us there: written by register and by `fleet-endpoints cluster register` and `rebuild`; infra denies it to the other functions. */
export const accessKey = (cluster: string): Key => ({ pk: `ACCESS#${escaped(cluster)}`, sk: 'ACCESS' });
/** Its sort key comes before those of the records that it numbers. */
export const auditCounterKey = (cluster: string): Key => ({ pk: `CLUSTER#${escaped(cluster)}`, sk: 'AUDIT#' });
export const auditKey = (cluster: string, number: number): Key => ({
  pk: `CLUSTER#${escaped(cluster)}`,
  sk: `AUDIT#${String(number).padStart(10, '0')}`,
});
export const clusterIndexKey = (cluster: string): Key => ({ pk: 'CLUSTERS', sk: escaped(cluster) });
export const queueKey = (arn: string): Key => ({ pk: `QUEUE#${arn}`, sk: 'CLUSTER' });

/** The index of namespaces. Sort keys are "namespace/". */
export const namespacesOf = (cluster: string): string => `${escaped(cluster)}#NS`;
export const namespaceKey = (cluster: string, namespace: string): Key => ({ pk: namespacesOf(cluster), sk: `${escaped(namespace)}/` });

export const objectsOf = (cluster: string, kind: InputKind, namespace: string): string =>
  `${escaped(cluster)}#${partitionOfKind[kind]}${wholeClusters.includes(kind) ? '' : `#${escaped(namespace)}`}`;
export const objectKey = (cluster: string, kind: InputKind, namespace: string, name: string): Key => ({
  pk: objectsOf(cluster, kind, namespace),
  sk: isNamespacedInOne(kind) ? `${escaped(namespace)}/${escaped(name)}` : escaped(name),
});

/** Reads a sort key of `objectKey`; `partition`: the namespace that was asked for. */
export function objectOfKey(kind: InputKind, partition: string, sk: string): { readonly namespace: string; readonly name: string } {
  return isNamespacedInOne(kind) ? nameOfPair(sk) : { namespace: partition, name: unescaped(sk) };
}

/** Reads a sort key "namespace/name". */
export function nameOfPair(sk: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = sk.split('/').map(unescaped);
  return { namespace, name };
}

/** The sort keys of a namespace's objects within the partition of `objectsOf`; undefined: all of it. */
export const namespaceRange = (kind: InputKind, namespace: string): KeyRange | undefined =>
  // "0" is the byte behind "/".
  isNamespacedInOne(kind) && namespace !== '' ? { from: `${escaped(namespace)}/`, to: `${escaped(namespace)}0` } : undefined;

/** The pod log of a namespace, in the order of its numbers. */
export const podLogOf = (cluster: string, namespace: string): string => `${escaped(cluster)}#PODLOG#${escaped(namespace)}`;

export const fenceKey = (cluster: string, kind: Kind): Key => ({ pk: `${escaped(cluster)}#FENCE`, sk: kind });
export const listKey = (cluster: string, kind: Kind, listId: string): Key => ({ pk: `${escaped(cluster)}#LIST#${kind}`, sk: escaped(listId) });
export const sessionKey = (cluster: string, session: string): Key => ({ pk: `${escaped(cluster)}#SESSION`, sk: escaped(session) });

/** How far the twice-daily resync has come (functions/sweep/resync.ts). */
export const resyncKey = (cluster: string): Key => ({ pk: `${escaped(cluster)}#RESYNC`, sk: 'round' });

export const hintsOf = (cluster: string): string => `${escaped(cluster)}#HINTS`;
export const hintsKey = (cluster: string, namespace: string, service: string): Key => ({
  pk: hintsOf(cluster),
  sk: `${escaped(namespace)}/${escaped(service)}`,
});

export const countsOf = (cluster: string): string => `${escaped(cluster)}#COUNTS`;
export const countsKey = (cluster: string, namespace: string, service: string): Key => ({
  pk: countsOf(cluster),
  sk: `${escaped(namespace)}/${escaped(service)}`,
});

export const shadowKey = (cluster: string, namespace: string, service: string): Key => ({
  pk: `${escaped(cluster)}#SHADOW`,
  sk: `${escaped(namespace)}/${escaped(service)}`,
});

/** What the last run of an import has found out, where it is not only that all is well. */
export const importReportKey = (cluster: string, namespace: string, name: string): Key => ({
  pk: importReportsOf(cluster),
  sk: `${escaped(namespace)}/${escaped(name)}`,
});
export const importReportsOf = (cluster: string): string => `${escaped(cluster)}#REPORT`;

/** The exports of the clusters of a set in a namespace. The records belong to the set: they stay when a cluster is removed. */
export const setOf = (set: string, namespace: string): string => `SET#${escaped(set)}#${escaped(namespace)}`;
/** An entry of the set for a name: `parts` are its kind and whose it is. */
export const setKey = (set: string, namespace: string, name: string, ...parts: readonly string[]): Key => ({
  pk: setOf(set, namespace),
  sk: [name, ...parts].map(escaped).join('#'),
});
/** The sort keys of a name's entries. "$" is the byte behind "#". */
export const setRange = (name: string): KeyRange => ({ from: `${escaped(name)}#`, to: `${escaped(name)}$` });

const perService = (what: string) => (cluster: string, namespace: string, service: string) =>
  `${escaped(cluster)}#${what}#${escaped(namespace)}/${escaped(service)}`;
export const outputsOf = perService('OUT');
export const seenOf = perService('SEEN');
export const othersOf = perService('OTHER');
export const otherKey = ({ cluster, namespace, name }: ServiceKey, kind: OutputKind, output: string): Key => ({
  pk: othersOf(cluster, namespace, name),
  sk: `${kind}#${escaped(output)}`,
});
/** Services of the namespace that have, or had, a slice whose name does not begin with theirs. */
export const oddServicesOf = (cluster: string, namespace: string): string => `${escaped(cluster)}#ODD#${escaped(namespace)}`;
export const workOf = perService('WORK');
export const triggersOf = perService('TRIGGER');
export const historyOf = perService('HISTORY');

export const workKey = (cluster: string, namespace: string, service: string): Key => ({ pk: workOf(cluster, namespace, service), sk: 'work' });

/** The cluster whose snapshot the key belongs to; undefined for records about clusters: their own, access, audits, queues, and the index of them. */
export function clusterOfKey({ pk }: Key): string | undefined {
  const [cluster = '', ...rest] = pk.split('#');
  return rest.length === 0 || ['CLUSTER', 'ACCESS', 'QUEUE', 'SET'].includes(cluster) ? undefined : cluster;
}

/** Reads a work item's partition key. */
export function parseWorkKey(pk: string): { readonly cluster: string; readonly namespace: string; readonly service: string } {
  const [cluster = '', , key = ''] = pk.split('#');
  const { namespace, name: service } = nameOfPair(key);
  return { cluster: unescaped(cluster), namespace, service };
}

export const endpointsOutput = 'endpoints';
export const sliceOutput = (name: string): string => `slice#${escaped(name)}`;
/** Beside the body of an output, by the sort key of that. */
export const deltaOf = (sk: string): string => `delta#${sk}`;
export const isDelta = ({ sk }: Key): boolean => sk.startsWith('delta#');
