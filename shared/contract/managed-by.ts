/** Labels that name an object's controller, with the values of the two controllers. The admission policies in infra restrict the writer to them. */
export const endpointsManagedByLabel = { key: 'endpoints.kubernetes.io/managed-by', value: 'endpoint-controller' } as const;
export const sliceManagedByLabel = { key: 'endpointslice.kubernetes.io/managed-by', value: 'endpointslice-controller.k8s.io' } as const;
/** The value of slices for Services that opt in by annotation. Kubernetes does not touch slices of another manager. */
export const optInManagedBy = 'opt-in.fleet-endpoints';
/** The value of slices with the endpoints of other clusters' exported Services. */
export const importsManagedBy = 'imports.fleet-endpoints';
export const labelServiceName = 'kubernetes.io/service-name';
/** Labels of slices in the Multi-Cluster Services API: the ServiceImport's name, and the cluster of the slice's pods. */
export const labelMcsService = 'multicluster.kubernetes.io/service-name';
export const labelSourceCluster = 'multicluster.kubernetes.io/source-cluster';
/** Annotation of Endpoints that serve as a lock for leader election, without addresses. */
export const annotationLeader = 'control-plane.alpha.kubernetes.io/leader';
/** Sources of the Events of the two controllers, endpoints first. */
export const eventComponents = ['endpoint-controller', 'endpoint-slice-controller'] as const;

/**
 * Returns the field manager of every write. In managedFields it distinguishes the hub from kube-controller-manager and from other hubs. `writer` is the id of
 * this hub's writes to the cluster.
 */
export const fieldManagerOf = (writer: string | undefined): string => (writer ? `${fieldManager}-${writer}` : fieldManager);

/** Field manager of calls that do not write outputs, without the id of a hub. */
export const fieldManager = 'fleet-endpoints';
