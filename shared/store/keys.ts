/**
 * The key of every record in the table (docs/develop/architecture.md, "Records", lists their content and writers).
 * Names come from messages, so each key escapes the characters that separate its parts, and each reader of a
 * key unescapes them. Kubernetes does not allow these characters in names, and shared/queue/parse.ts refuses
 * them: the escape is a second barrier.
 */
import type { ClustersetKind, InputKind, Kind } from '#shared/kube/types.ts';
import type { WorkKind } from '#shared/kube/work-kinds.ts';
import type { Key, KeyRange } from './table.ts';

/** A Service of a cluster, or an export or import of the name. */
export interface ServiceKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** A work item: of a Service, or of the export or import of a name. */
export interface WorkKey extends ServiceKey {
  readonly kind: WorkKind;
}

/** Returns the name as a part of a key. */
export const escaped = (name: string): string => name.replace(/[%#/]/g, encodeURIComponent);
/** Returns the name of a key's part. Never throws: other text stays as it is. */
export const unescaped = (part: string): string => part.replace(/%(?:25|23|2F)/g, decodeURIComponent);

const partitionOfKind = {
  Service: 'SVC',
  Pod: 'POD',
  Node: 'NODE',
  Namespace: 'NSO',
  ServiceExport: 'EXPORT',
  ServiceImport: 'IMPORT',
} as const;
/**
 * Kinds with one partition for a cluster, in the order of their keys. Their objects are few, or not
 * namespaced.
 */
const wholeClusters: readonly InputKind[] = [
  'Node',
  'Namespace',
  'ServiceExport',
  'ServiceImport',
] satisfies readonly ('Node' | ClustersetKind)[];
const isNamespacedInOne = (kind: InputKind): boolean => kind === 'ServiceExport' || kind === 'ServiceImport';

export const metaKey = (cluster: string): Key => ({ pk: `CLUSTER#${escaped(cluster)}`, sk: 'META' });
/**
 * Access to the cluster's API and queues. Register, and `fleet-endpoints cluster register` and `rebuild`
 * write it. infra denies it to other functions.
 */
export const accessKey = (cluster: string): Key => ({ pk: `ACCESS#${escaped(cluster)}`, sk: 'ACCESS' });
/** The counter of audit records. Its sort key comes before those of the records. */
export const auditCounterKey = (cluster: string): Key => ({
  pk: `CLUSTER#${escaped(cluster)}`,
  sk: 'AUDIT#',
});
export const auditKey = (cluster: string, number: number): Key => ({
  pk: `CLUSTER#${escaped(cluster)}`,
  sk: `AUDIT#${String(number).padStart(10, '0')}`,
});
export const clusterIndexKey = (cluster: string): Key => ({ pk: 'CLUSTERS', sk: escaped(cluster) });
/** Read by every run of an export: a partition of its own is shorter than the index of all clusters. */
export const importersPartition = 'IMPORTERS';
export const importerKey = (cluster: string): Key => ({ pk: importersPartition, sk: escaped(cluster) });
export const queueKey = (arn: string): Key => ({ pk: `QUEUE#${arn}`, sk: 'CLUSTER' });

/** The partition of the index of namespaces. Sort keys are "namespace/". */
export const namespacesOf = (cluster: string): string => `${escaped(cluster)}#NS`;
export const namespaceKey = (cluster: string, namespace: string): Key => ({
  pk: namespacesOf(cluster),
  sk: `${escaped(namespace)}/`,
});

export const objectsOf = (cluster: string, kind: InputKind, namespace: string): string =>
  `${escaped(cluster)}#${partitionOfKind[kind]}${wholeClusters.includes(kind) ? '' : `#${escaped(namespace)}`}`;
export const objectKey = (cluster: string, kind: InputKind, namespace: string, name: string): Key => ({
  pk: objectsOf(cluster, kind, namespace),
  sk: isNamespacedInOne(kind) ? pairOf(namespace, name) : escaped(name),
});

/** Reads a sort key of `objectKey`. `partition` is the requested namespace. */
export function objectOfKey(
  kind: InputKind,
  partition: string,
  sk: string,
): { readonly namespace: string; readonly name: string } {
  return isNamespacedInOne(kind) ? nameOfPair(sk) : { namespace: partition, name: unescaped(sk) };
}

const pairOf = (namespace: string, name: string): string => `${escaped(namespace)}/${escaped(name)}`;
/** Reads a sort key "namespace/name". */
export function nameOfPair(sk: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = sk.split('/').map(unescaped);
  return { namespace, name };
}

/**
 * Returns the range of a namespace's sort keys within the partition of `objectsOf`, or undefined for the
 * whole partition.
 */
export const namespaceRange = (kind: InputKind, namespace: string): KeyRange | undefined =>
  isNamespacedInOne(kind) && namespace !== '' ? pairsOf(namespace) : undefined;

/** Returns the range of the sort keys "namespace/name" of one namespace. The byte after "/" is "0". */
export const pairsOf = (namespace: string): KeyRange => ({
  from: `${escaped(namespace)}/`,
  to: `${escaped(namespace)}0`,
});

export const fenceKey = (cluster: string, kind: Kind): Key => ({ pk: `${escaped(cluster)}#FENCE`, sk: kind });
export const listKey = (cluster: string, kind: Kind, listId: string): Key => ({
  pk: `${escaped(cluster)}#LIST#${kind}`,
  sk: escaped(listId),
});
export const sessionKey = (cluster: string, session: string): Key => ({
  pk: `${escaped(cluster)}#SESSION`,
  sk: escaped(session),
});

/** The position of the twice-daily resync (functions/sweep/resync.ts). */
export const resyncKey = (cluster: string): Key => ({ pk: `${escaped(cluster)}#RESYNC`, sk: 'round' });

const partitionOf = (what: string) => (cluster: string) => `${escaped(cluster)}#${what}`;
const keyIn =
  (partition: (cluster: string) => string) =>
  ({ cluster, namespace, name }: ServiceKey): Key => ({
    pk: partition(cluster),
    sk: pairOf(namespace, name),
  });
export const countsOf = partitionOf('COUNTS');
export const countsKey = keyIn(countsOf);
export const shadowRecordsOf = partitionOf('SHADOW');
export const shadowKey = keyIn(shadowRecordsOf);
/** The reports of last runs of imports that found problems. */
export const importReportsOf = partitionOf('REPORT');
export const importReportKey = keyIn(importReportsOf);

/**
 * The partition of a set's exports in a namespace. The records belong to the set, so they stay when a cluster
 * is removed.
 */
export const setOf = (set: string, namespace: string): string => `SET#${escaped(set)}#${escaped(namespace)}`;
/** The key of the set's entry for a name. `parts` are the entry's kind and its owner. */
export const setKey = (set: string, namespace: string, name: string, ...parts: readonly string[]): Key => ({
  pk: setOf(set, namespace),
  sk: [name, ...parts].map(escaped).join('#'),
});
/**
 * The names that a cluster exports for the set, with sort keys "namespace/name". The records belong to the
 * set: a rebuild of the cluster keeps them.
 */
export const exportedOf = (set: string, cluster: string): string =>
  `EXPORTED#${escaped(set)}#${escaped(cluster)}`;
export const exportedKey = (set: string, cluster: string, namespace: string, name: string): Key => ({
  pk: exportedOf(set, cluster),
  sk: pairOf(namespace, name),
});
/** The partition of the states of a set's imports in a namespace, with sort keys "name#importer". */
export const importedOf = (set: string, namespace: string): string =>
  `IMPORTED#${escaped(set)}#${escaped(namespace)}`;
export const importedKey = (set: string, namespace: string, name: string, importer: string): Key => ({
  pk: importedOf(set, namespace),
  sk: `${escaped(name)}#${escaped(importer)}`,
});
/** Returns the range of a name's sort keys. The byte after "#" is "$". */
export const setRange = (name: string): KeyRange => ({ from: `${escaped(name)}#`, to: `${escaped(name)}$` });

const perService =
  (what: string) =>
  ({ cluster, namespace, name }: ServiceKey): string =>
    `${escaped(cluster)}#${what}#${pairOf(namespace, name)}`;
export const outputsOf = perService('OUT');
export const seenOf = perService('SEEN');
/** The history of the outputs that other clients write. */
export const observedOf = perService('OBSERVED');
/** The partition of services with a present or former slice whose name does not begin with theirs. */
export const oddServicesOf = (cluster: string, namespace: string): string =>
  `${escaped(cluster)}#ODD#${escaped(namespace)}`;
const workOf = ({ kind, ...named }: WorkKey): string => perService(`WORK#${kind}`)(named);
export const triggersOf = perService('TRIGGER');
export const historyOf = perService('HISTORY');
const exportedPodsOf = perService('EXPORTED-PODS');

export const exportedPodsKey = (service: ServiceKey): Key => ({ pk: exportedPodsOf(service), sk: 'pods' });
export const workKey = (work: WorkKey): Key => ({ pk: workOf(work), sk: 'work' });

/**
 * Returns the cluster whose snapshot the key belongs to. Undefined for records about clusters: their own,
 * access, audits, queues, and their index.
 */
export function clusterOfKey({ pk }: Key): string | undefined {
  const [cluster = '', ...rest] = pk.split('#');
  return rest.length === 0 || ['CLUSTER', 'ACCESS', 'QUEUE', 'SET', 'EXPORTED', 'IMPORTED'].includes(cluster)
    ? undefined
    : cluster;
}

/** Reads a work item's partition key. */
export function parseWorkKey(pk: string): WorkKey {
  const [cluster = '', , kind, key = ''] = pk.split('#');
  return { cluster: unescaped(cluster), kind: kind as WorkKind, ...nameOfPair(key) };
}

export const endpointsOutput = 'endpoints';
export const sliceOutput = (name: string): string => `slice#${escaped(name)}`;
