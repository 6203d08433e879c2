/**
 * The hand-over of a Service from one writer of slices to the other. Both serve its addresses for a time,
 * each in slices of its own: proxies use the slices of a Service together. Slices of the former writer are
 * deleted only if those of the next writer serve every ready address on each of its ports, however late.
 */
import { isBuiltInController, isHub, isKubectl, lastContentWrite } from '#shared/kube/field-managers.ts';
import { portsText } from '#shared/kube/listed-endpoints.ts';
import {
  annotationLeader,
  endpointsManagedBy,
  labelEndpointsManagedBy,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
  slicesMirroredBy,
} from '#shared/kube/names.ts';
import type { Endpoint, EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Writer } from './writer.ts';

export interface HandOverInput {
  readonly writer: Exclude<Writer['by'], 'invalid-annotation' | 'no-annotation'>;
  /**
   * Every slice that bears the Service's name, and the Endpoints of that name, as the cluster has them now.
   */
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: Endpoints | undefined;
  /** What the selector of the Service makes ready now. */
  readonly ready: readonly ServedAddress[];
}

/** A ready address on one of its ports: proxies keep the endpoints of each port of a Service apart. */
export interface ServedAddress {
  readonly address: string;
  /** With its name, as proxies find it by the name of the Service's port. */
  readonly port: string;
  /** Of the pod. */
  readonly uid: string | undefined;
}

export interface HandOver {
  /** Slices of ours to delete. */
  readonly withdrawn: readonly EndpointSlice[];
  /** Objects to delete that the built-in controllers made: they no longer update them. */
  readonly leftovers: {
    readonly endpoints: Endpoints | undefined;
    readonly slices: readonly EndpointSlice[];
  };
  /** The next writer does not serve everything that is ready yet, so the slices of the former one stay. */
  readonly isWaiting: boolean;
}

const note = 'hand-over: ';
/** Saved as the difference of the Service while its hand-over waits. */
export const waitingForOthers = `${note}the slices of the former writer stay until those of the next one serve every ready address on each port`;
export const waitingText = JSON.stringify([waitingForOthers]);
/**
 * The same while the API server refuses the deletion, because the switch is off and the hub has lost its
 * rights.
 */
export const refusedText = (message: string): string =>
  JSON.stringify([`${note}the hub may not delete its slices, which no longer follow their pods: ${message}`]);
/** Returns true if the difference of a Service is a note of its hand-over. */
export const isHandOverNote = (text: string): boolean => text.startsWith(`["${note}`);

const leftoversOf = (
  slices: readonly EndpointSlice[],
  endpoints: Endpoints | undefined,
): HandOver['leftovers'] => ({
  endpoints: endpoints && isLeftover(endpoints) ? endpoints : undefined,
  slices: slices.filter(isLeftover),
});

/** Call after the writes of the new writer. */
export function handOver({ writer, slices, endpoints, ready }: HandOverInput): HandOver {
  const there = slices.filter((slice) => !slice.metadata.deletionTimestamp);
  const ours = there.filter(isOptInSlice);
  const theirs = there.filter(isBuiltInSlice);
  switch (writer) {
    case 'opt-in': {
      const leftovers = leftoversOf(theirs, endpoints);
      const isNone = !leftovers.endpoints && leftovers.slices.length === 0;
      // Our slices are just written, but another client may have removed an address from them since.
      return isNone || servesAll(ours, ready) ? { ...nothing, leftovers } : { ...nothing, isWaiting: true };
    }
    case 'built-in':
      return ours.length > 0 && !servesAll(theirs, ready)
        ? { ...nothing, isWaiting: true }
        : { ...nothing, withdrawn: ours };
    case 'none':
      return { ...nothing, withdrawn: ours };
  }
}

const nothing: HandOver = {
  withdrawn: [],
  leftovers: { endpoints: undefined, slices: [] },
  isWaiting: false,
};

/**
 * A first slice proves that the writer has begun, because each controller creates one even for a Service
 * without pods.
 */
function servesAll(slices: readonly EndpointSlice[], ready: HandOverInput['ready']): boolean {
  const served = new Set(servedBy(slices).map(placeOf));
  const ending = terminating(slices);
  return (
    slices.length > 0 &&
    ready.every(
      (endpoint) => served.has(placeOf(endpoint)) || (endpoint.uid !== undefined && ending.has(endpoint.uid)),
    )
  );
}

const placeOf = ({ address, port }: ServedAddress): string => `${address} ${port}`;

/** Returns every ready address with each of its ports, or with `none` if its slice has no ports. */
export const servedBy = (
  slices: readonly Pick<EndpointSlice, 'endpoints' | 'ports'>[],
): readonly ServedAddress[] =>
  slices.flatMap(({ endpoints, ports }) => {
    const texts =
      ports && ports.length > 0
        ? ports.map(({ name, port, protocol }) => portsText([{ name, port, protocol }]))
        : [portsText(ports)];
    return (endpoints ?? [])
      .filter(isServed)
      .flatMap(({ addresses, targetRef }) =>
        addresses.flatMap((address) => texts.map((port) => ({ address, port, uid: targetRef?.uid }))),
      );
  });

/**
 * Uids of pods that end. The end of a pod is final, so a writer that has it knows more than a snapshot in
 * which the pod is ready.
 */
const terminating = (slices: readonly EndpointSlice[]): ReadonlySet<string | undefined> =>
  new Set(
    slices.flatMap((slice) =>
      (slice.endpoints ?? []).filter((e) => e.conditions?.terminating).map((e) => e.targetRef?.uid),
    ),
  );
const managedBy = (slice: Pick<EndpointSlice, 'metadata'>): string | undefined =>
  slice.metadata.labels?.[labelSliceManagedBy];
export const isOptInSlice = (slice: Pick<EndpointSlice, 'metadata'>): boolean =>
  managedBy(slice) === optInManagedBy;
export const isBuiltInSlice = (slice: Pick<EndpointSlice, 'metadata'>): boolean =>
  managedBy(slice) === slicesManagedBy;
/** Returns true for a mirrored slice. Kubernetes mirrors Endpoints of Services without a selector. */
export const isMirroredSlice = (slice: Pick<EndpointSlice, 'metadata'>): boolean =>
  managedBy(slice) === slicesMirroredBy;

/** An endpoint without the condition counts as ready, for kube-proxy too. */
const isServed = ({ conditions }: Pick<Endpoint, 'conditions'>): boolean => conditions?.ready !== false;

/** Returns the ready addresses. */
export const addressesServed = (slices: readonly Pick<EndpointSlice, 'endpoints'>[]): readonly string[] =>
  slices.flatMap((slice) => (slice.endpoints ?? []).filter(isServed).flatMap((e) => e.addresses));

/**
 * Returns true if the built-in controller, or the hub in its place, made the object and no other controller
 * updates it. Before 1.33 that controller did not label Endpoints, so their last writer must be known. An
 * edit with kubectl does not change the owner of the object.
 */
export function isLeftover(object: Endpoints | EndpointSlice): boolean {
  if (object.metadata.deletionTimestamp) return false;
  const manager = lastContentWrite(object)?.manager;
  const isTheirs = manager !== undefined && (isBuiltInController(manager) || isHub(manager));
  const label = managerLabel(object);
  if (label !== undefined)
    return isBuiltIn.has(label) && (manager === undefined || isTheirs || isKubectl(manager));
  return (
    isTheirs && !('addressType' in object) && object.metadata.annotations?.[annotationLeader] === undefined
  );
}

const isBuiltIn: ReadonlySet<string> = new Set([endpointsManagedBy, slicesManagedBy]);

const managerLabel = (object: Endpoints | EndpointSlice): string | undefined =>
  object.metadata.labels?.['addressType' in object ? labelSliceManagedBy : labelEndpointsManagedBy];
