/** What an answer is computed from. Everything beside the Service, its pods and what is served may be unknown. */
import type { Labels } from '#shared/kube/labels.ts';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import type {
  CoreEvent,
  EndpointSlice,
  Endpoints,
  Namespace,
  Node,
  ObjectMeta,
  OutputKind,
  Pod,
  Service,
} from '#shared/kube/types.ts';

export interface World {
  readonly namespace: string;
  readonly name: string;
  /** Undefined if the Service does not exist (any more). */
  readonly service: Service | undefined;
  /** Every pod of the namespace. */
  readonly pods: readonly Pod[];
  /** The nodes that were read, by name. */
  readonly nodes: ReadonlyMap<string, Node>;
  readonly served: Served;
  readonly around: Surroundings;
  /** What the hub knows of its writes. Undefined without a hub. */
  readonly writing?: Writing | undefined;
  /** ms since the epoch, by the cluster's clock. */
  readonly now: number;
}

/** The writer's own word on outputs that are not what it wants. */
export interface Writing {
  /** A clause: why it has not written them yet. */
  readonly text: string;
  /** It is about to. */
  readonly isUnderWay: boolean;
}

/** What proxies use: every slice with the Service's name, whoever wrote it, and the Endpoints. */
export interface Served {
  readonly endpoints: Endpoints | undefined;
  readonly slices: readonly EndpointSlice[];
  /** Kinds with an object whose content is not known: `endpoints` and `slices` do not contain it. */
  readonly withoutContent?: readonly OutputKind[];
}

/** Each is undefined if it was not read. */
export interface Surroundings {
  readonly namespace?: Namespace | undefined;
  /** The Services of the namespace. */
  readonly services?: readonly Service[] | undefined;
  /** Other namespaces with a Service of that name. */
  readonly sameName?: readonly string[] | undefined;
  readonly workloads?: readonly Workload[] | undefined;
  readonly events?: readonly CoreEvent[] | undefined;
  /** The slices of the namespace that do not bear the Service's name. */
  readonly otherSlices?: readonly EndpointSlice[] | undefined;
  /** The Endpoints of the namespace with another name. Read for a Service without a selector. */
  readonly otherEndpoints?: readonly Endpoints[] | undefined;
  /** Pods of other namespaces that the selector would match. */
  readonly podsElsewhere?: readonly Pod[] | undefined;
  /** Admission policies and webhooks that see EndpointSlices of the namespace. */
  readonly admission?: readonly AdmissionRule[] | undefined;
  readonly networkPolicies?: readonly NetworkPolicy[] | undefined;
  readonly serviceExport?: ServiceExport | undefined;
  readonly serviceImport?: ServiceImport | undefined;
  /** `nodes` are all nodes of the cluster. */
  readonly isEveryNode?: boolean;
  /** Pods have no more than the controllers read: no containers, no reasons. */
  readonly isProjected?: boolean;
  /** Why pods are left out while their zone is away, by name. */
  readonly away?: ReadonlyMap<string, string>;
  /** Pods could not be read: `pods` is empty. */
  readonly isWithoutPods?: boolean;
}

/** An object with a template of pods. */
export interface Workload {
  readonly kind: 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'DaemonSet';
  readonly metadata: ObjectMeta;
  /** Undefined for a DaemonSet, which has as many as nodes fit. */
  readonly replicas: number | undefined;
  readonly templateLabels: Labels;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
  }[];
}

export interface AdmissionRule {
  readonly kind: string;
  readonly name: string;
  /** What it tells a client that it refuses. */
  readonly messages: readonly string[];
}

export interface NetworkPolicy {
  readonly name: string;
  readonly podSelector: Labels;
  /** Ports that it lets in from anywhere or from some; `any` without a limit of ports. */
  readonly ingress: readonly (number | string | 'any')[];
}
