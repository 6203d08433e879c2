import type { Pod, Service, ServicePort } from './types.ts';

/** The first Ready condition is True (SH-1). */
export function isPodReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** Returns the first Ready condition, with any status. */
export function readyCondition(pod: Pod) {
  return pod.status?.conditions?.find((c) => c.type === 'Ready');
}

/** The pod is ready and does not terminate. */
export const isServing = (pod: Pod): boolean => isPodReady(pod) && !pod.metadata.deletionTimestamp;

/** Returns true if the pod has run to its end. It does not restart under any restart policy (SH-2). */
export function isPodTerminal(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}

/** SH-3. A pod that is being deleted counts only if `includeTerminating`. */
export function shouldPodBeInEndpoints(pod: Pod, includeTerminating: boolean): boolean {
  if (isPodTerminal(pod)) return false;
  if (!pod.status?.podIP && !pod.status?.podIPs?.length) return false;
  return includeTerminating || !pod.metadata.deletionTimestamp;
}

/** The pod asks for a DNS name of its own under this service (SH-4). */
export function shouldSetHostname(pod: Pod, service: Service): boolean {
  return (
    Boolean(pod.spec?.hostname) &&
    pod.spec?.subdomain === service.metadata.name &&
    pod.metadata.namespace === service.metadata.namespace
  );
}

/**
 * The number that the service's target port has on this pod, or undefined if no container names it so
 * (SH-5..7). A number is taken as it is; a name is looked for in the containers, then in the init containers
 * that keep running.
 */
export function findPort(pod: Pod, servicePort: ServicePort): number | undefined {
  const target = servicePort.targetPort ?? 0;
  if (typeof target === 'number') return target;
  const protocol = servicePort.protocol ?? '';
  return (
    portNamed(pod.spec?.containers ?? [], target, protocol) ??
    portNamed((pod.spec?.initContainers ?? []).filter(keepsRunning), target, protocol)
  );
}

type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

function portNamed(containers: readonly Container[], name: string, protocol: string): number | undefined {
  for (const container of containers)
    for (const port of container.ports ?? [])
      if (port.name === name && (port.protocol ?? '') === protocol) return port.containerPort;
  return undefined;
}

const keepsRunning = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
