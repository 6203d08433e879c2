/** Labels that say whose an object is, and the values that both controllers write: infra's admission policies hold the writer to them. */
export const endpointsManagedByLabel = { key: 'endpoints.kubernetes.io/managed-by', value: 'endpoint-controller' } as const;
export const sliceManagedByLabel = { key: 'endpointslice.kubernetes.io/managed-by', value: 'endpointslice-controller.k8s.io' } as const;
export const serviceNameLabel = 'kubernetes.io/service-name';
/** On Endpoints that are a lock and no endpoints. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
/** Who the Events of the two controllers are from. */
export const eventComponents = ['endpoint-controller', 'endpoint-slice-controller'] as const;

/**
 * Every write of ours carries it: managedFields tell it from kube-controller-manager's, and from another hub's. `writer`: the id that the hub has for
 * its writes to the cluster.
 */
export const fieldManagerOf = (writer: string | undefined): string => (writer ? `${fieldManager}-${writer}` : fieldManager);

/** What the version before called itself, in every hub: in objects that it wrote last it stays. */
export const fieldManager = 'fleet-endpoints';
