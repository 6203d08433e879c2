/** Labels that name an object's controller, with the value that each of the two controllers writes: infra's admission policies hold the writer to them. */
export const endpointsManagedByLabel = { key: 'endpoints.kubernetes.io/managed-by', value: 'endpoint-controller' } as const;
export const sliceManagedByLabel = { key: 'endpointslice.kubernetes.io/managed-by', value: 'endpointslice-controller.k8s.io' } as const;
/** The value of slices for Services that opt in by annotation: Kubernetes leaves a slice alone that names another manager. */
export const optInManager = 'opt-in.fleet-endpoints';
/** The value of slices with the endpoints of other clusters' exported Services. */
export const importsManager = 'imports.fleet-endpoints';
export const serviceNameLabel = 'kubernetes.io/service-name';
/** Of the Multi-Cluster Services API, on slices: the ServiceImport's name, and the cluster whose pods the slice holds. */
export const mcsServiceLabel = 'multicluster.kubernetes.io/service-name';
export const sourceClusterLabel = 'multicluster.kubernetes.io/source-cluster';
/** On Endpoints that serve as a lock for leader election and hold no addresses. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
/** Sources of the Events of the two controllers, endpoints first. */
export const eventComponents = ['endpoint-controller', 'endpoint-slice-controller'] as const;

/**
 * The field manager of every write: in managedFields it tells the hub from kube-controller-manager, and from another hub. `writer` is the id of this
 * hub's writes to the cluster.
 */
export const fieldManagerOf = (writer: string | undefined): string => (writer ? `${fieldManager}-${writer}` : fieldManager);

/** Field manager of calls that write no outputs. It carries no id of a hub. */
export const fieldManager = 'fleet-endpoints';
