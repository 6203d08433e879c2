import { decideSlices } from '#shared/controllers/slices/decide.ts';
import type { AddressTypePlan, SlicesInput, SlicesPlan } from '#shared/controllers/slices/plan.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import { labelServiceName, labelSliceManagedBy, labelZone, slicesManagedBy } from '#shared/kube/names.ts';
import type { Endpoint, EndpointSlice, Node, Pod, Service, SlicePort } from '#shared/kube/types.ts';
import {
  type PodOptions as AnyPodOptions,
  pod as anyPod,
  service as anyService,
} from '#test/support/objects.ts';

export const serviceUid = 'service-uid';
export const owner = {
  apiVersion: 'v1',
  kind: 'Service',
  name: 'foo',
  uid: serviceUid,
  controller: true,
  blockOwnerDeletion: true,
};
export const managed = { [labelServiceName]: 'foo', [labelSliceManagedBy]: slicesManagedBy };

/** Single-stack IPv4 with a cluster IP, the numeric port 80 and selector app=a. */
export const service = (spec: Service['spec'] = {}, metadata: Partial<Service['metadata']> = {}): Service =>
  anyService(
    {
      selector: { app: 'a' },
      clusterIP: '10.0.0.10',
      ports: [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP' }],
      ...spec,
    },
    { name: 'foo', uid: serviceUid, creationTimestamp: '2024-01-01T00:00:00Z', ...metadata },
  );

export interface PodOptions extends Pick<AnyPodOptions, 'ready' | 'ips' | 'phase' | 'spec' | 'uid'> {
  readonly node?: string;
  readonly deleted?: boolean;
}

/** Pod number n: ready, on node-1, with an address of its own. */
export const pod = (
  n: number,
  { node = 'node-1', spec, deleted = false, ...options }: PodOptions = {},
): Pod =>
  anyPod(`pod${String(n).padStart(4, '0')}`, {
    uid: `pod-uid-${n}`,
    labels: { app: 'a' },
    ips: [`10.1.${Math.floor(n / 250)}.${1 + (n % 250)}`],
    spec: { nodeName: node, containers: [], ...spec },
    ...options,
    deleted: deleted && '2024-01-01T00:01:00Z',
  });

export const pods = (count: number, options?: PodOptions): readonly Pod[] =>
  Array.from({ length: count }, (_, i) => pod(i, options));

export interface NodeOptions {
  readonly cpu?: string;
  readonly ready?: boolean;
  readonly labels?: { readonly [key: string]: string };
}

export function node(
  name: string,
  zone: string | undefined,
  { cpu = '1', ready = true, labels = {} }: NodeOptions = {},
): Node {
  return {
    metadata: { name, labels: { ...labels, ...(zone !== undefined && { [labelZone]: zone }) } },
    status: {
      ...(cpu && { allocatable: { cpu } }),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

export const nodes = (...all: readonly Node[]): ReadonlyMap<string, Node> =>
  new Map(all.map((n) => [n.metadata.name, n]));

export const httpPorts: readonly SlicePort[] = [{ name: 'http', port: 80, protocol: 'TCP' }];

/** A slice of the service as the API holds it. */
export function slice(
  name: string,
  endpoints: readonly Endpoint[],
  more: Partial<Omit<EndpointSlice, 'metadata'>> & { metadata?: Partial<EndpointSlice['metadata']> } = {},
): EndpointSlice {
  const { metadata, ...rest } = more;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    ports: httpPorts,
    endpoints,
    ...rest,
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: managed,
      ownerReferences: [owner],
      ...metadata,
    },
  };
}

/** The endpoint that pod number n has in a settled slice. */
export function endpoint(n: number, more: Partial<Endpoint> = {}): Endpoint {
  const { metadata, status, spec } = pod(n);
  return {
    addresses: (status?.podIPs ?? []).map(({ ip }) => ip),
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: 'Pod', namespace: 'ns', name: metadata.name, uid: metadata.uid },
    nodeName: spec?.nodeName,
    ...more,
  };
}

export const endpoints = (from: number, to: number): readonly Endpoint[] =>
  Array.from({ length: to - from }, (_, i) => endpoint(from + i));

export function input(more: Partial<SlicesInput> = {}): SlicesInput {
  return {
    service: service(),
    pods: [],
    nodes: nodes(node('node-1', undefined)),
    slices: [],
    triggerTimes: undefined,
    hints: undefined,
    maxEndpointsPerSlice: 100,
    ...more,
  };
}

/** Decides on an input that must not be written to. */
export function decide(more: Partial<SlicesInput> = {}): SlicesPlan {
  return decideSlices(deepFreeze(input(more)));
}

/** Returns the plan of the only address type. */
export function only(plan: SlicesPlan): AddressTypePlan {
  if (plan.addressTypes.length !== 1)
    throw new Error(`expected one address type, got ${plan.addressTypes.length}`);
  return plan.addressTypes[0] as AddressTypePlan;
}

export const sizes = (slices: readonly { readonly endpoints?: readonly unknown[] }[]): readonly number[] =>
  slices.map((s) => s.endpoints?.length ?? 0).sort((a, b) => b - a);

/** How many slices are created, updated and deleted. */
export const writes = (plan: SlicesPlan): readonly [create: number, update: number, delete_: number] => {
  const count = (list: (type: AddressTypePlan) => readonly unknown[]) =>
    plan.addressTypes.reduce((sum, type) => sum + list(type).length, 0);
  return [count((t) => t.create), count((t) => t.update), count((t) => t.delete) + plan.unsupported.length];
};

let version = 1;

/**
 * The input after the plan was carried out, with slices as the API would return them (empty lists as null,
 * API-2).
 */
export function carryOut(before: SlicesInput, plan: SlicesPlan): SlicesInput {
  const slices = new Map(before.slices.map((s) => [s.metadata.name, s]));
  for (const type of plan.addressTypes) {
    for (const draft of type.create) store(slices, assignName(draft, serviceUid, new Set(slices.keys())));
    for (const update of type.update) {
      const { uid, resourceVersion } = slices.get(update.metadata.name)?.metadata ?? {};
      if (uid !== update.metadata.uid || resourceVersion !== update.metadata.resourceVersion)
        throw new Error(`conflict on ${update.metadata.name}`);
      store(slices, update);
    }
    for (const { metadata } of type.delete) slices.delete(metadata.name);
  }
  for (const { metadata } of plan.unsupported) slices.delete(metadata.name);
  return { ...before, slices: [...slices.values()], triggerTimes: plan.triggerTimes, hints: plan.hints };
}

function store(slices: Map<string, EndpointSlice>, slice: EndpointSlice): void {
  const stored = JSON.parse(JSON.stringify(slice)) as EndpointSlice;
  const { name, uid = `uid-${name}` } = stored.metadata;
  const nullable = (list: readonly unknown[] | undefined) => (list?.length ? list : null);
  slices.set(name, {
    ...stored,
    endpoints: nullable(stored.endpoints) as EndpointSlice['endpoints'],
    ports: nullable(stored.ports) as EndpointSlice['ports'],
    metadata: { ...stored.metadata, uid, resourceVersion: String(++version) },
  });
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) for (const entry of value.values()) deepFreeze(entry);
  Object.freeze(value);
  for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key]);
  return value;
}
