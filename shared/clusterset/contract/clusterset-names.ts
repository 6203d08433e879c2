/**
 * Names of the Multi-Cluster Services API v0.5.2 (MC-5) and of this project (MC-80). The admission policies
 * in infra restrict the writer to them.
 */
/** Annotation of a ServiceImport with the name of its derived Service. */
export const annotationDerivedService = 'multicluster.kubernetes.io/derived-service';

export const derivedPrefix = 'derived-';

/** Namespaces that clusters never export from or import into, independent of their switches (MC-60). */
export const excludedNamespaces: readonly string[] = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'default',
  'fleet-endpoints',
];
