/**
 * The Kubernetes objects as they are on the wire: plain JSON, times as RFC 3339 text, read-only.
 *
 * The shapes come from @kubernetes/client-node by type only. An object here may be sparse: what passed the
 * relay's projection (projection.ts) holds just the fields that the two controllers read. An empty list may
 * arrive as null or not at all (docs/reference/parity.md API-2): read lists with `?? []`.
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
  V1Namespace,
  V1Node,
  V1ObjectReference,
  V1Pod,
  V1Service,
  V1ServicePort,
  V1ServiceSpec,
  V1Status,
} from '@kubernetes/client-node';
import type { ServiceExport, ServiceImport } from './mcs-types.ts';
import type { Selector } from './selectors/label-selector.ts';
import type { ObjectMeta, Wire } from './wire.ts';

export type { ObjectMeta, Wire };

/** An object with a name. */
export type Named<T extends object> = Omit<Wire<T>, 'metadata'> & { readonly metadata: ObjectMeta };

/** The selector is that of an annotation where the Service opts in (shared/controllers/opt-in/writer.ts). */
export type Service = Omit<Named<V1Service>, 'spec'> & {
  readonly spec?: Omit<Wire<V1ServiceSpec>, 'selector'> & { readonly selector?: Selector | undefined };
};
export type ServicePort = Wire<V1ServicePort>;
export type Pod = Named<V1Pod>;
export type Node = Named<V1Node>;
export type Namespace = Named<V1Namespace>;
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

/**
 * Kinds that a relay may watch: `kinds` in every cluster, and `clustersetKinds` in clusters that export or
 * import Services.
 */
export type Kind = InputKind | OutputKind;
export type InputKind = 'Service' | 'Pod' | 'Node' | ClustersetKind;
/** Kinds that the relay watches in every cluster. */
export type CoreKind = Exclude<Kind, ClustersetKind>;
export type OutputKind = 'Endpoints' | 'EndpointSlice';
/** The last two are not in every cluster: their definitions are installed, and may go again. */
export type ClustersetKind = 'Namespace' | 'ServiceExport' | 'ServiceImport';
export const inputKinds: readonly Exclude<InputKind, ClustersetKind>[] = ['Service', 'Pod', 'Node'];
export const outputKinds: readonly OutputKind[] = ['Endpoints', 'EndpointSlice'];
export const isInput = (kind: Kind): kind is InputKind => kind !== 'Endpoints' && kind !== 'EndpointSlice';
export const kinds: readonly CoreKind[] = [...inputKinds, ...outputKinds];
export const clustersetKinds: readonly ClustersetKind[] = ['Namespace', 'ServiceExport', 'ServiceImport'];
export const allKinds: readonly Kind[] = [...kinds, ...clustersetKinds];

export interface ObjectOfKind {
  readonly Service: Service;
  readonly Pod: Pod;
  readonly Node: Node;
  readonly Endpoints: Endpoints;
  readonly EndpointSlice: EndpointSlice;
  readonly Namespace: Namespace;
  readonly ServiceExport: ServiceExport;
  readonly ServiceImport: ServiceImport;
}

/** A Kubernetes Event before it is correlated and written (functions/sync/aftermath/kube-events.ts). */
export interface EventSketch {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The object it is about. */
  readonly regarding: ObjectReference;
  /** Upstream's event source component: `endpoint-controller` or `endpoint-slice-controller`. */
  readonly component: string;
}

/** The fields of a failed API call that the controllers read. */
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
