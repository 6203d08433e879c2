import { samePods } from '#shared/kube/endpoint-fields.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset } from '#shared/kube/types.ts';
import { repackSubsets } from './subsets.ts';

type Subsets = readonly EndpointSubset[] | null | undefined;

/** Returns true if `current`, in any order, has the content of `wanted`, which is canonical (EP-56). */
export function sameContent(current: Subsets, wanted: readonly EndpointSubset[]): boolean {
  return subsetsEqual(current, wanted) || subsetsEqual(repackSubsets(current ?? []), wanted);
}

/**
 * Equal, order included, but for targetRef.resourceVersion, which older versions wrote
 * (endpointSubsetsEqualIgnoreResourceVersion of pkg/controller/endpoint). A missing list is an empty one.
 * Unlike upstream, a missing nodeName is an empty one (API-7).
 */
export function subsetsEqual(a: Subsets, b: Subsets): boolean {
  return listsEqual(a, b, subsetEqual);
}

/** Says what `subsetsEqual` passes over. */
export function hasResourceVersions(subsets: Subsets): boolean {
  return (subsets ?? []).some((s) =>
    [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])].some((a) => a.targetRef?.resourceVersion),
  );
}

function subsetEqual(a: EndpointSubset, b: EndpointSubset): boolean {
  return (
    listsEqual(a.addresses, b.addresses, addressEqual) &&
    listsEqual(a.notReadyAddresses, b.notReadyAddresses, addressEqual) &&
    listsEqual(a.ports, b.ports, portEqual)
  );
}

function addressEqual(a: EndpointAddress, b: EndpointAddress): boolean {
  return (
    a.ip === b.ip &&
    text(a.hostname) === text(b.hostname) &&
    text(a.nodeName) === text(b.nodeName) &&
    samePods(a, b)
  );
}

function portEqual(a: EndpointPort, b: EndpointPort): boolean {
  // a pointer upstream: "" is not the same as absent (EP-61a)
  const appProtocol = (a.appProtocol ?? undefined) === (b.appProtocol ?? undefined);
  return (
    appProtocol && a.port === b.port && text(a.name) === text(b.name) && text(a.protocol) === text(b.protocol)
  );
}

const text = (s: string | null | undefined): string => s ?? '';

function listsEqual<T>(
  a: readonly T[] | null | undefined,
  b: readonly T[] | null | undefined,
  equal: (a: T, b: T) => boolean,
): boolean {
  const [left, right] = [a ?? [], b ?? []];
  return left.length === right.length && left.every((item, i) => equal(item, right[i] as T));
}
