/** Names that the two controllers write and read (docs/behaviour.md G-1, G-5, G-6). */

export const endpointsManagedBy = 'endpoint-controller';
export const endpointsComponent = 'endpoint-controller';
export const slicesManagedBy = 'endpointslice-controller.k8s.io';
export const slicesComponent = 'endpoint-slice-controller';

export const labelHeadless = 'service.kubernetes.io/headless';
export const labelEndpointsManagedBy = 'endpoints.kubernetes.io/managed-by';
export const labelServiceName = 'kubernetes.io/service-name';
export const labelSliceManagedBy = 'endpointslice.kubernetes.io/managed-by';
export const labelZone = 'topology.kubernetes.io/zone';
export const labelControlPlane = 'node-role.kubernetes.io/control-plane';
export const labelMaster = 'node-role.kubernetes.io/master';

export const annotationTriggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
export const annotationOverCapacity = 'endpoints.kubernetes.io/over-capacity';
export const annotationLeader = 'control-plane.alpha.kubernetes.io/leader';
/** Deprecated, but still the one that wins when it is present (TA-0). */
export const annotationTopologyAwareHints = 'service.kubernetes.io/topology-aware-hints';
export const annotationTopologyMode = 'service.kubernetes.io/topology-mode';
