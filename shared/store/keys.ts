/**
 * The key of every record in the one table (docs/architecture.md, "Records", says what each one holds and who writes it). Names come from
 * messages, so the characters that separate parts of a key are escaped; Kubernetes itself allows none of them in a name.
 */
import type { ClustersetKind, InputKind, Kind, OutputKind } from '#shared/kube/types.ts';
import type { Key, KeyRange } from './table.ts';

/** A service of a cluster. */
export interface ServiceKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

const safe = (name: string): string => name.replace(/[%#/]/g, encodeURIComponent);

const partitionOfKind = { Service: 'SVC', Pod: 'POD', Node: 'NODE', Namespace: 'NSO', ServiceExport: 'EXPORT', ServiceImport: 'IMPORT' } as const;
/** All of a cluster are in one partition, in the order of their keys: there are few of them, or they have no namespace. */
const wholeClusters: readonly InputKind[] = ['Node', 'Namespace', 'ServiceExport', 'ServiceImport'] satisfies readonly ('Node' | ClustersetKind)[];
const isNamespacedInOne = (kind: InputKind): boolean => kind === 'ServiceExport' || kind === 'ServiceImport';

export const metaKey = (cluster: string): Key => ({ pk: `CLUSTER#${safe(cluster)}`, sk: 'META' });
/** Where the cluster's API and queues are, and what shows us there: written by register and by `npm run cluster -- register` and `rebuild`; infra denies it to the other functions. */
export const accessKey = (cluster: string): Key => ({ pk: `ACCESS#${safe(cluster)}`, sk: 'ACCESS' });
/** Its sort key comes before those of the records that it numbers. */
export const auditCounterKey = (cluster: string): Key => ({ pk: `CLUSTER#${safe(cluster)}`, sk: 'AUDIT#' });
export const auditKey = (cluster: string, number: number): Key => ({
  pk: `CLUSTER#${safe(cluster)}`,
  sk: `AUDIT#${String(number).padStart(10, '0')}`,
});
export const clusterIndexKey = (cluster: string): Key => ({ pk: 'CLUSTERS', sk: cluster });
export const queueKey = (arn: string): Key => ({ pk: `QUEUE#${arn}`, sk: 'CLUSTER' });

/** The index of namespaces. Sort keys are "namespace/". */
export const namespacesOf = (cluster: string): string => `${safe(cluster)}#NS`;
export const namespaceKey = (cluster: string, namespace: string): Key => ({ pk: namespacesOf(cluster), sk: `${safe(namespace)}/` });

export const objectsOf = (cluster: string, kind: InputKind, namespace: string): string =>
  `${safe(cluster)}#${partitionOfKind[kind]}${wholeClusters.includes(kind) ? '' : `#${safe(namespace)}`}`;
export const objectKey = (cluster: string, kind: InputKind, namespace: string, name: string): Key => ({
  pk: objectsOf(cluster, kind, namespace),
  sk: isNamespacedInOne(kind) ? `${namespace}/${name}` : name,
});

/** Of a sort key of `objectKey`; `partition`: the namespace that was asked for. */
export function objectOfKey(kind: InputKind, partition: string, sk: string): { readonly namespace: string; readonly name: string } {
  if (!isNamespacedInOne(kind)) return { namespace: partition, name: sk };
  const slash = sk.indexOf('/');
  return { namespace: sk.slice(0, slash), name: sk.slice(slash + 1) };
}

/** The sort keys of a namespace's objects within the partition of `objectsOf`; undefined: all of it. */
export const namespaceRange = (kind: InputKind, namespace: string): KeyRange | undefined =>
  // "0" is the byte behind "/".
  isNamespacedInOne(kind) && namespace !== '' ? { from: `${namespace}/`, to: `${namespace}0` } : undefined;

/** The pod log of a namespace, in the order of its numbers. */
export const podLogOf = (cluster: string, namespace: string): string => `${safe(cluster)}#PODLOG#${safe(namespace)}`;

export const fenceKey = (cluster: string, kind: Kind): Key => ({ pk: `${safe(cluster)}#FENCE`, sk: kind });
export const listKey = (cluster: string, kind: Kind, listId: string): Key => ({ pk: `${safe(cluster)}#LIST#${kind}`, sk: listId });
export const sessionKey = (cluster: string, session: string): Key => ({ pk: `${safe(cluster)}#SESSION`, sk: session });

/** How far the twice-daily resync has come (functions/sweep/resync.ts). */
export const resyncKey = (cluster: string): Key => ({ pk: `${safe(cluster)}#RESYNC`, sk: 'round' });

export const hintsOf = (cluster: string): string => `${safe(cluster)}#HINTS`;
export const hintsKey = (cluster: string, namespace: string, service: string): Key => ({
  pk: hintsOf(cluster),
  sk: `${safe(namespace)}/${safe(service)}`,
});

export const countsOf = (cluster: string): string => `${safe(cluster)}#COUNTS`;
export const countsKey = (cluster: string, namespace: string, service: string): Key => ({
  pk: countsOf(cluster),
  sk: `${safe(namespace)}/${safe(service)}`,
});

export const shadowKey = (cluster: string, namespace: string, service: string): Key => ({
  pk: `${safe(cluster)}#SHADOW`,
  sk: `${safe(namespace)}/${safe(service)}`,
});

/** What the last run of an import has found out, where it is not only that all is well. */
export const importReportKey = (cluster: string, namespace: string, name: string): Key => ({
  pk: importReportsOf(cluster),
  sk: `${safe(namespace)}/${safe(name)}`,
});
export const importReportsOf = (cluster: string): string => `${safe(cluster)}#REPORT`;

/** What the clusters of a set export in a namespace. Of no cluster: it stays when one is removed. */
export const setOf = (set: string, namespace: string): string => `SET#${safe(set)}#${safe(namespace)}`;
export const setKey = (set: string, namespace: string, sk: string): Key => ({ pk: setOf(set, namespace), sk });

const perService = (what: string) => (cluster: string, namespace: string, service: string) =>
  `${safe(cluster)}#${what}#${safe(namespace)}/${safe(service)}`;
export const outputsOf = perService('OUT');
export const seenOf = perService('SEEN');
export const othersOf = perService('OTHER');
export const otherKey = ({ cluster, namespace, name }: ServiceKey, kind: OutputKind, output: string): Key => ({
  pk: othersOf(cluster, namespace, name),
  sk: `${kind}#${output}`,
});
/** Services of the namespace that have, or had, a slice whose name does not begin with theirs. */
export const oddServicesOf = (cluster: string, namespace: string): string => `${safe(cluster)}#ODD#${safe(namespace)}`;
export const workOf = perService('WORK');
export const triggersOf = perService('TRIGGER');
export const historyOf = perService('HISTORY');

export const workKey = (cluster: string, namespace: string, service: string): Key => ({ pk: workOf(cluster, namespace, service), sk: 'work' });

/** The cluster whose snapshot the key belongs to; undefined for records about clusters: their own, access, audits, queues, and the index of them. */
export function clusterOfKey({ pk }: Key): string | undefined {
  const [cluster = '', ...rest] = pk.split('#');
  return rest.length === 0 || ['CLUSTER', 'ACCESS', 'QUEUE', 'SET'].includes(cluster) ? undefined : cluster;
}

/** Cluster, namespace and service of a work item's partition key. */
export function parseWorkKey(pk: string): { readonly cluster: string; readonly namespace: string; readonly service: string } {
  const [cluster = '', , key = ''] = pk.split('#');
  const [namespace = '', service = ''] = key.split('/').map(decodeURIComponent);
  return { cluster: decodeURIComponent(cluster), namespace, service };
}

export const endpointsOutput = 'endpoints';
export const amendmentsOutput = 'endpoints+';
export const sliceOutput = (name: string): string => `slice#${name}`;
