/**
 * The Kubernetes objects as they are on the wire: plain JSON, times as RFC 3339 text, read-only.
 *
 * The shapes come from @kubernetes/client-node by type only. An object here may be sparse: what passed the relay's
 * projection (projection.ts) holds just the fields that the two controllers read. An empty list may arrive as null
 * or not at all (docs/behaviour.md API-2): read lists with `?? []`.
 */
import type {
  CoreV1EndpointPort,
  CoreV1Event,
  DiscoveryV1EndpointPort,
  V1Endpoint,
  V1EndpointAddress,
  V1EndpointSlice,
  V1EndpointSubset,
  V1Endpoints,
  V1Node,
  V1ObjectMeta,
  V1ObjectReference,
  V1Pod,
  V1Service,
  V1ServicePort,
  V1Status,
} from '@kubernetes/client-node';

/** A client-node model as JSON: dates are text, everything is read-only. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer U)[]
    ? readonly Wire<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Wire<T[K]> }
      : T;

export type ObjectMeta = Wire<V1ObjectMeta> & { readonly name: string };

type Named<T extends object> = Omit<Wire<T>, 'metadata'> & { readonly metadata: ObjectMeta };

export type Service = Named<V1Service>;
export type ServicePort = Wire<V1ServicePort>;
export type Pod = Named<V1Pod>;
export type Node = Named<V1Node>;
export type ObjectReference = Wire<V1ObjectReference>;

export type Endpoints = Named<V1Endpoints>;
export type EndpointSubset = Wire<V1EndpointSubset>;
export type EndpointAddress = Wire<V1EndpointAddress>;
export type EndpointPort = Wire<CoreV1EndpointPort>;

export type EndpointSlice = Named<V1EndpointSlice>;
export type Endpoint = Wire<V1Endpoint>;
export type SlicePort = Wire<DiscoveryV1EndpointPort>;
export type AddressType = 'IPv4' | 'IPv6';

export type CoreEvent = Named<CoreV1Event>;
export type Status = Wire<V1Status>;

/** The kinds that the relay watches. The first three are inputs, the last two outputs. */
export type Kind = 'Service' | 'Pod' | 'Node' | 'Endpoints' | 'EndpointSlice';
export type InputKind = 'Service' | 'Pod' | 'Node';
export type OutputKind = 'Endpoints' | 'EndpointSlice';
export const inputKinds: readonly InputKind[] = ['Service', 'Pod', 'Node'];
export const kinds: readonly Kind[] = [...inputKinds, 'Endpoints', 'EndpointSlice'];

export interface ObjectOfKind {
  readonly Service: Service;
  readonly Pod: Pod;
  readonly Node: Node;
  readonly Endpoints: Endpoints;
  readonly EndpointSlice: EndpointSlice;
}

/** A Kubernetes Event before it is correlated and written (functions/sync/kube-events.ts). */
export interface EventSketch {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The object it is about. */
  readonly regarding: ObjectReference;
  /** Upstream's event source component: `endpoint-controller` or `endpoint-slice-controller`. */
  readonly component: string;
}

/** What of a failed API call the controllers look at. */
export interface ApiFailure {
  /** HTTP status code; 0 for a connection that failed. */
  readonly status: number;
  /** `reason` of the Status body, such as AlreadyExists, Conflict, Forbidden. */
  readonly reason?: string;
  /** `details.causes[].reason` of the Status body (API-4). */
  readonly causes: readonly string[];
  /** The text that upstream's error would have. */
  readonly message: string;
}
