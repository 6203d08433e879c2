import { fnv1a128 } from '#shared/kube/hash.ts';
import { findPort } from '#shared/kube/pods.ts';
import type { Pod, Service, SlicePort } from '#shared/kube/types.ts';

/** The ports of a group of endpoints. Pods with the same ones share slices. */
export interface PortMap {
  /** portMapKey of the ports. */
  readonly key: string;
  readonly ports: readonly SlicePort[];
}

/**
 * The ports that the service has on a pod: a name that no container has is left out (ES-18), so there may be
 * none (ES-22). Most pods of a service have the same numbers: each distinct list is made once.
 */
export function portsByPod(service: Service): (pod: Pod) => PortMap {
  const servicePorts = service.spec?.ports ?? [];
  const known = new Map<string, PortMap>();
  return (pod) => {
    const numbers = servicePorts.map((port) => findPort(pod, port));
    const shape = numbers.join();
    const before = known.get(shape);
    if (before) return before;
    const ports = servicePorts.flatMap((port, i): SlicePort[] => {
      const number = numbers[i];
      if (number === undefined) return [];
      return [
        {
          name: port.name ?? '',
          port: number,
          protocol: port.protocol ?? '',
          ...(port.appProtocol != null && { appProtocol: port.appProtocol }),
        },
      ];
    });
    const portMap = { key: portMapKey(ports), ports };
    known.set(shape, portMap);
    return portMap;
  };
}

/** The same for the same ports in any order, and only then (ES-26). */
export function portMapKey(ports: readonly SlicePort[] | null | undefined): string {
  return (ports ?? [])
    .map((p) => JSON.stringify([p.name ?? null, p.port ?? null, p.protocol ?? null, p.appProtocol ?? null]))
    .sort()
    .join();
}

/** In the order that upstream leaves them in: by the hash of their Go dump (ES-27). */
export function inHashOrder(ports: readonly SlicePort[]): readonly SlicePort[] {
  if (ports.length < 2) return ports;
  return ports
    .map((port) => [portHash(port), port] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, port]) => port);
}

/** Upstream's DeepHashObject of one port (ES-26). */
export function portHash({ name, port, protocol, appProtocol }: SlicePort): string {
  return fnv1a128(
    `(v1.EndpointPort){Name:(*string)${name ?? '<nil>'} Protocol:(*v1.Protocol)${protocol ?? '<nil>'} Port:(*int32)${port ?? '<nil>'} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`,
  );
}
