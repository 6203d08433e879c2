/** Ports of the Service that its pods lack. */
import { findPort } from '#shared/kube/pods.ts';
import type { Pod, Service, ServicePort } from '#shared/kube/types.ts';
import { bad, type Cause, warning } from '../cause.ts';
import { isAlike } from '../likeness.ts';
import { namedPods } from '../named-pods.ts';

/** `pods` are the selected ones that run. */
export function portCauses(service: Service, isProjected: boolean, pods: readonly Pod[]): readonly Cause[] {
  if (pods.length === 0) return [];
  return (service.spec?.ports ?? []).flatMap((port) => {
    const { targetPort = port.port } = port;
    const cause =
      typeof targetPort === 'string'
        ? namedPortCause(service, port, targetPort, pods)
        : // The numbers that containers declare are not in the hub.
          isProjected
          ? undefined
          : numberedPortCause(port, targetPort, pods);
    return cause ? [cause] : [];
  });
}

/** A named target port that pods lack takes them out of the Endpoints, and the port off their slices. */
function namedPortCause(
  service: Service,
  port: ServicePort,
  target: string,
  pods: readonly Pod[],
): Cause | undefined {
  const without = pods.filter((pod) => findPort(pod, port) === undefined);
  if (without.length === 0) return undefined;
  const protocol = port.protocol ?? 'TCP';
  const declared = without.flatMap(portsOf);
  const named = `${target}/${protocol}`;
  const other = declared.find((p) => p.name === target && p.protocol !== protocol && p.counts);
  const init = declared.find((p) => p.name === target && p.protocol === protocol && !p.counts);
  const alike = declared.find((p) => p.counts && p.name && isAlike(p.name, target));
  const why = other
    ? `container port ${target} is ${other.protocol}, and the Service's port is ${protocol}: the name counts with the same protocol alone`
    : init
      ? `only init container ${init.container} declares it, which does not run beside the others`
      : `${alike ? `there is ${alike.name} ${alike.number}/${alike.protocol}` : `there is ${declaredText(declared)}`}`;
  const whose = without.length === pods.length ? 'no container' : `${namedPods(without)}: no container`;
  const make = without.length === pods.length ? bad : warning;
  const lacks = without.length === pods.length ? '' : ' there';
  return {
    ...make(
      'NoMatchingPort',
      `${whose} has a port named ${named}, which is the target port of port ${portName(port)}; ${why}`,
      other
        ? `give the Service's port protocol ${other.protocol}, or declare a container port ${target} with protocol ${protocol}`
        : `kubectl edit svc -n ${service.metadata.namespace} ${service.metadata.name}: targetPort ${alike ? alike.name : 'as a container names it, or its number'}${lacks}`,
    ),
    pods: without.map((p) => p.metadata.name),
  };
}

/** A container need not declare a port. If others are declared, the number may be wrong all the same. */
function numberedPortCause(port: ServicePort, target: number, pods: readonly Pod[]): Cause | undefined {
  const protocol = port.protocol ?? 'TCP';
  const isDeclared = (pod: Pod): boolean =>
    portsOf(pod).some((p) => p.counts && p.number === target && p.protocol === protocol);
  const without = pods.filter((pod) => !isDeclared(pod));
  if (without.length === 0) return undefined;
  const declared = without.flatMap(portsOf).filter((p) => p.counts);
  const isEvery = without.length === pods.length;
  // The pods of one workload that declare nothing prove nothing.
  if (isEvery && declared.length === 0) return undefined;
  const whose = isEvery ? 'no container' : `${namedPods(without)}: no container`;
  const there = declared.length > 0 ? `; there is ${declaredText(declared)}` : '';
  return {
    ...warning(
      'PortNotDeclared',
      `${whose} declares port ${target}/${protocol}, which is the target port of port ${portName(port)}${there}: connections are refused unless something listens on ${target}`,
      isEvery
        ? 'set targetPort to the port that the container listens on'
        : 'a narrower selector leaves these pods out',
    ),
    pods: without.map((p) => p.metadata.name),
  };
}

interface DeclaredPort {
  readonly name: string;
  readonly number: number;
  readonly protocol: string;
  readonly container: string;
  /** False for an init container that ends. */
  readonly counts: boolean;
}

function portsOf({ spec }: Pod): readonly DeclaredPort[] {
  const init = (spec?.initContainers ?? []).map((c) => ({ c, counts: c.restartPolicy === 'Always' }));
  const main = (spec?.containers ?? []).map((c) => ({ c, counts: true }));
  return [...main, ...init].flatMap(({ c, counts }) =>
    (c.ports ?? []).map((p) => ({
      ...{ name: p.name ?? '', number: p.containerPort, protocol: p.protocol ?? 'TCP' },
      ...{ container: c.name, counts },
    })),
  );
}

const declaredText = (ports: readonly DeclaredPort[]): string =>
  [
    ...new Set(
      ports.filter((p) => p.counts).map((p) => `${p.name ? `${p.name} ` : ''}${p.number}/${p.protocol}`),
    ),
  ]
    .slice(0, 8)
    .join(', ') || 'no declared port at all';

export const portName = (port: ServicePort): string =>
  port.name ? `${port.name} (${port.port})` : String(port.port);
