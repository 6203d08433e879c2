/** Names that the two controllers write and read (docs/behaviour.md G-1, G-5, G-6). The contract has the names that infra's admission policies check. */

import { endpointsManagedByLabel, eventComponents, sliceManagedByLabel } from '#shared/contract/managed-by.ts';

export { clustersetKey as annotationClusterset } from '#shared/contract/clusterset-names.ts';
export {
  annotationLeader,
  importsManagedBy,
  labelMcsService,
  labelServiceName,
  labelSourceCluster,
  optInManagedBy,
} from '#shared/contract/managed-by.ts';

export const endpointsManagedBy = endpointsManagedByLabel.value;
export const slicesManagedBy = sliceManagedByLabel.value;
export const slicesMirroredBy = 'endpointslicemirroring-controller.k8s.io';
export const [endpointsComponent, slicesComponent] = eventComponents;

export const labelHeadless = 'service.kubernetes.io/headless';
export const labelEndpointsManagedBy = endpointsManagedByLabel.key;
export const labelSliceManagedBy = sliceManagedByLabel.key;
export const labelZone = 'topology.kubernetes.io/zone';
export const labelControlPlane = 'node-role.kubernetes.io/control-plane';
export const labelMaster = 'node-role.kubernetes.io/master';

export const annotationTriggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
export const annotationOverCapacity = 'endpoints.kubernetes.io/over-capacity';
/** Deprecated, but it overrides the newer annotation if it is present (TA-0). */
export const annotationTopologyAwareHints = 'service.kubernetes.io/topology-aware-hints';
export const annotationTopologyMode = 'service.kubernetes.io/topology-mode';
/** On a ServiceExport: which endpoints the importers' nodes use first, and the share of the ready ones below which others join them. */
export const annotationPrefer = 'fleet-endpoints/prefer';
export const annotationMinLocal = 'fleet-endpoints/min-local';
/** On a Service without a selector: the pods whose endpoints we write. */
export const annotationSelector = 'fleet-endpoints/selector';
