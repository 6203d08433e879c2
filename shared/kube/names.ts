/**
 * Names that the two controllers write and read (reference/parity.md G-1, G-5, G-6), and those of opt-in and of
 * imports. The admission policies in infra restrict the writer to them.
 */

export const endpointsManagedBy = 'endpoint-controller';
export const slicesManagedBy = 'endpointslice-controller.k8s.io';
export const slicesMirroredBy = 'endpointslicemirroring-controller.k8s.io';
/**
 * The value of slices for Services that opt in by annotation. Kubernetes does not touch slices of another
 * manager.
 */
export const optInManagedBy = 'opt-in.fleet-endpoints';
/** The value of slices with the endpoints of other clusters' exported Services. */
export const importsManagedBy = 'imports.fleet-endpoints';

/** Sources of the Events of the two controllers. */
export const endpointsComponent = 'endpoint-controller';
export const slicesComponent = 'endpoint-slice-controller';

/**
 * Returns the field manager of every write. In managedFields it distinguishes the hub from
 * kube-controller-manager and from other hubs. `writer` is the id of this hub's writes to the cluster.
 */
export const fieldManagerOf = (writer: string | undefined): string =>
  writer ? `${fieldManager}-${writer}` : fieldManager;

/** Field manager of calls that do not write outputs, without the id of a hub. */
export const fieldManager = 'fleet-endpoints';

export const labelHeadless = 'service.kubernetes.io/headless';
export const labelServiceName = 'kubernetes.io/service-name';
/** Labels that name an object's controller. */
export const labelEndpointsManagedBy = 'endpoints.kubernetes.io/managed-by';
export const labelSliceManagedBy = 'endpointslice.kubernetes.io/managed-by';
/**
 * Labels of slices in the Multi-Cluster Services API: the ServiceImport's name, and the cluster of the
 * slice's pods.
 */
export const labelMcsService = 'multicluster.kubernetes.io/service-name';
export const labelSourceCluster = 'multicluster.kubernetes.io/source-cluster';
export const labelZone = 'topology.kubernetes.io/zone';
/** AWS: the id of the zone, which is the same place in every account. The name of the zone is not. */
export const labelZoneId = 'topology.k8s.aws/zone-id';
export const labelControlPlane = 'node-role.kubernetes.io/control-plane';
export const labelMaster = 'node-role.kubernetes.io/master';

export const annotationTriggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
export const annotationOverCapacity = 'endpoints.kubernetes.io/over-capacity';
/** Annotation of Endpoints that serve as a lock for leader election, without addresses. */
export const annotationLeader = 'control-plane.alpha.kubernetes.io/leader';
/** Deprecated, but it overrides the newer annotation if it is present (TA-0). */
export const annotationTopologyAwareHints = 'service.kubernetes.io/topology-aware-hints';
export const annotationTopologyMode = 'service.kubernetes.io/topology-mode';
/**
 * On a ServiceExport: which endpoints the importers' nodes use first, and the share of the ready ones below
 * which others join them.
 */
export const annotationPrefer = 'fleet-endpoints/prefer';
export const annotationMinLocal = 'fleet-endpoints/min-local';
/** On a Service without a selector: the pods whose endpoints we write. */
export const annotationSelector = 'fleet-endpoints/selector';
/** `hand-back` adds it with the selector, and `hand-back --undo` finds by it what it may take back. */
export const annotationHandedBack = 'fleet-endpoints/handed-back';
/**
 * Annotation of our ServiceImports: their set. As the label of a namespace: the set whose imports it takes.
 */
export const annotationClusterset = 'fleet-endpoints/clusterset';

/**
 * A ServiceImport with this label and the name of our set is ours. A ServiceImport without them belongs to
 * another implementation. Our derived Services have the label too, because other implementations use the same
 * names.
 */
export const importManagedBy = { key: 'app.kubernetes.io/managed-by', value: 'fleet-endpoints' } as const;

/** The group of the Multi-Cluster Services API. */
export const mcsGroup = 'multicluster.x-k8s.io';
