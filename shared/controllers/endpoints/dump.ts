import type { EndpointAddress, EndpointPort, EndpointSubset } from '#shared/kube/types.ts';

/** The text that upstream hashes to order ports (RS-12): Go's spew of a v1.EndpointPort. */
export function dumpPort(port: EndpointPort): string {
  return `(v1.EndpointPort)${portItem(port)}`;
}

/** The text that upstream hashes to order subsets (RS-12). */
export function dumpSubset({ addresses, notReadyAddresses, ports }: EndpointSubset): string {
  return (
    `(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)${list(addresses, addressItem)}` +
    ` NotReadyAddresses:([]v1.EndpointAddress)${list(notReadyAddresses, addressItem)}` +
    ` Ports:([]v1.EndpointPort)${list(ports, portItem)}}`
  );
}

const nil = '<nil>';

function list<T>(items: readonly T[] | null | undefined, item: (item: T) => string): string {
  return items ? `[${items.map(item).join(' ')}]` : nil;
}

function portItem(p: EndpointPort): string {
  return `{Name:(string)${p.name ?? ''} Port:(int32)${p.port} Protocol:(v1.Protocol)${p.protocol ?? ''} AppProtocol:(*string)${p.appProtocol ?? nil}}`;
}

function addressItem(a: EndpointAddress): string {
  const target = a.targetRef ? reference(a.targetRef) : nil;
  // Upstream's nodeName points to the pod's field, also if that is empty (EP-13).
  const nodeName = a.nodeName ?? (a.targetRef ? '' : nil);
  return `{IP:(string)${a.ip} Hostname:(string)${a.hostname ?? ''} NodeName:(*string)${nodeName} TargetRef:(*v1.ObjectReference)${target}}`;
}

const reference = (ref: NonNullable<EndpointAddress['targetRef']>): string =>
  `{Kind:(string)${ref.kind ?? ''} Namespace:(string)${ref.namespace ?? ''} Name:(string)${ref.name ?? ''} UID:(types.UID)${ref.uid ?? ''}` +
  ` APIVersion:(string)${ref.apiVersion ?? ''} ResourceVersion:(string)${ref.resourceVersion ?? ''} FieldPath:(string)${ref.fieldPath ?? ''}}`;
