/**
 * How the endpoints of a Service pass from one writer to the other without a gap. Both write the same addresses for a moment, in slices of their own,
 * and the union is what is served: so the old ones go only when the new ones are there.
 */
import {
  annotationLeader,
  endpointsManagedBy,
  labelEndpointsManagedBy,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
  slicesMirroredBy,
} from '#shared/kube/names.ts';
import type { EndpointAddress, EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Writer } from './writer.ts';

export interface HandOverInput {
  readonly writer: Writer['by'];
  /** Every slice that bears the Service's name, and the Endpoints of that name, as the cluster has them now. */
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: Endpoints | undefined;
  /** Addresses that the Service's own selector makes ready now: those that must not be missing for a moment. */
  readonly ready: ReadonlySet<string>;
  /** May leftovers of the built-in controllers be deleted? */
  readonly cleanup: boolean;
  /** Have the slices of the next writer been waited for so long that they are not waited for any more? */
  readonly waitedEnough: boolean;
}

export interface HandOver {
  /** Slices of ours that go. */
  readonly withdrawn: readonly EndpointSlice[];
  /** What the controllers of Kubernetes have left behind, which would stay for ever, with addresses that are no more. */
  readonly leftovers: { readonly endpoints: Endpoints | undefined; readonly slices: readonly EndpointSlice[] };
  /** The slices of the writer before are needed still: those of the next one do not cover them yet. */
  readonly isWaiting: boolean;
}

/** Kept with the differences of shadow mode while a hand-over waits. */
export const waitingForOthers = 'hand-over: the slices of the former writer stay until those of the next one are there';
export const waitingText = JSON.stringify([waitingForOthers]);

/** To be carried out after what the new writer has to write was written. */
export function handOver(input: HandOverInput): HandOver {
  const { writer, slices, endpoints, cleanup, waitedEnough } = input;
  const there = slices.filter((slice) => !slice.metadata.deletionTimestamp);
  const ours = there.filter(isOptInSlice);
  const theirs = there.filter(isBuiltInSlice);
  switch (writer) {
    case 'opt-in': {
      // Ours have just been written, but another client may have taken an address out of them since.
      const mayGo = theirs.length === 0 || waitedEnough || isCovered(input.ready, theirs, ours);
      const leftovers = { endpoints: isLeftover(endpoints) ? endpoints : undefined, slices: theirs };
      return { withdrawn: [], leftovers: cleanup && mayGo ? leftovers : nothing, isWaiting: cleanup && !mayGo };
    }
    case 'built-in': {
      const mayGo = ours.length === 0 || waitedEnough || isCovered(input.ready, ours, theirs);
      return { withdrawn: mayGo ? ours : [], leftovers: nothing, isWaiting: !mayGo };
    }
    case 'none':
      return { withdrawn: ours, leftovers: nothing, isWaiting: false };
    case 'held':
      return { withdrawn: [], leftovers: nothing, isWaiting: false };
  }
}

const nothing = { endpoints: undefined, slices: [] } as const;

const managedBy = (slice: Pick<EndpointSlice, 'metadata'>): string | undefined => slice.metadata.labels?.[labelSliceManagedBy];
export const isOptInSlice = (slice: Pick<EndpointSlice, 'metadata'>): boolean => managedBy(slice) === optInManagedBy;
export const isBuiltInSlice = (slice: Pick<EndpointSlice, 'metadata'>): boolean => managedBy(slice) === slicesManagedBy;
/** Of Endpoints whose Service has no selector. */
export const isMirroredSlice = (slice: Pick<EndpointSlice, 'metadata'>): boolean => managedBy(slice) === slicesMirroredBy;

/** Is each address that the slices which go serve, and that is still wanted, served by those that stay? */
function isCovered(ready: ReadonlySet<string>, going: readonly EndpointSlice[], staying: readonly EndpointSlice[]): boolean {
  const served = new Set(addressesServed(staying));
  return addressesServed(going).every((address) => !ready.has(address) || served.has(address));
}

/** Without the condition an endpoint counts as ready, for kube-proxy too. */
export const addressesServed = (slices: readonly Pick<EndpointSlice, 'endpoints'>[]): readonly string[] =>
  slices.flatMap((slice) => (slice.endpoints ?? []).filter((e) => e.conditions?.ready !== false).flatMap((e) => e.addresses));

/**
 * Did the endpoints controller make them? Before 1.33 it did not label them: then they point at pods, as Endpoints made by hand do not, and hold no
 * leader election.
 */
export function isLeftover(endpoints: Endpoints | undefined): boolean {
  if (!endpoints || endpoints.metadata.deletionTimestamp) return false;
  const label = endpoints.metadata.labels?.[labelEndpointsManagedBy];
  if (label !== undefined) return label === endpointsManagedBy;
  if (endpoints.metadata.annotations?.[annotationLeader] !== undefined) return false;
  const addresses = (endpoints.subsets ?? []).flatMap((s) => [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])]);
  return addresses.length > 0 && addresses.every((a: EndpointAddress) => a.targetRef?.kind === 'Pod');
}
