/** Names of the Multi-Cluster Services API, v0.5.2 (MC-5), and our own beside them (MC-80): infra's admission policies hold the writer to them. */
export const mcsGroup = 'multicluster.x-k8s.io';

/** On the ServiceImport: the name of its derived Service. */
export const annotationDerivedService = 'multicluster.kubernetes.io/derived-service';

/** On a namespace: the name of the set whose imports it takes; on a ServiceImport of ours: the set that it is of. */
export const clustersetKey = 'fleet-endpoints/clusterset';

/**
 * A ServiceImport is ours that has this label and names our set: one without them is of another implementation. A derived Service of ours has the label
 * too, as other implementations give theirs the same names.
 */
export const importManagedBy = { key: 'app.kubernetes.io/managed-by', value: 'fleet-endpoints' } as const;

export const derivedPrefix = 'derived-';

/** Namespaces that no cluster exports from or imports into, whatever its switches say (MC-60). */
export const excludedNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease', 'default', 'fleet-endpoints'];
