import type { Fields, RawObject, StoreKind } from './api-kinds.ts';

export interface Allocator {
  clusterIP(family: 'IPv4' | 'IPv6'): string;
  readonly dualStack: boolean;
}

/**
 * Sets the API server's defaults that the controllers can see, in `object` itself. `old` is the stored object
 * of an update.
 */
export function setDefaults(
  kind: StoreKind,
  object: RawObject,
  old: RawObject | undefined,
  allocate: Allocator,
): void {
  for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const) {
    if (isEmpty(object.metadata[field])) delete object.metadata[field];
  }
  defaulters[kind]?.(object, old, allocate);
}

const defaulters: {
  readonly [K in StoreKind]?: (object: RawObject, old: RawObject | undefined, allocate: Allocator) => void;
} = {
  Service: defaultService,
  Pod: defaultPod,
  Endpoints: defaultEndpoints,
  EndpointSlice: defaultSlice,
  Namespace(namespace) {
    Object.assign(namespace, {
      spec: { finalizers: ['kubernetes'] },
      status: namespace.status ?? { phase: 'Active' },
    });
  },
};

type PortFields = Fields & { port?: number; protocol?: string; targetPort?: number | string };

function defaultService(service: RawObject, old: RawObject | undefined, allocate: Allocator): void {
  service.spec ??= {};
  const { spec } = service;
  spec['type'] ||= 'ClusterIP';
  spec['sessionAffinity'] ||= 'None';
  service.status ??= { loadBalancer: {} };
  const ports = (spec['ports'] ?? []) as PortFields[];
  for (const port of ports) {
    port.protocol ||= 'TCP';
    port.targetPort ||= port.port as number;
  }
  // The API server drops an empty selector (API-1).
  if (isEmpty(spec['selector'])) delete spec['selector'];
  if (ports.length === 0) delete spec['ports'];
  if (spec['type'] === 'ExternalName') {
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'])
      delete spec[field];
    return;
  }
  defaultFamilies(spec, old?.spec, allocate);
  spec['internalTrafficPolicy'] ||= 'Cluster';
}

function defaultFamilies(spec: Fields, old: Fields | undefined, allocate: Allocator): void {
  if (old && !spec['clusterIP'] && old['clusterIP']) {
    spec['clusterIP'] = old['clusterIP'];
    spec['clusterIPs'] ??= old['clusterIPs'];
  }
  spec['ipFamilies'] ??= old?.['ipFamilies'];
  spec['ipFamilyPolicy'] ||= old?.['ipFamilyPolicy'];
  const headless = spec['clusterIP'] === 'None';
  const ips = (spec['clusterIPs'] ?? (spec['clusterIP'] ? [spec['clusterIP']] : [])) as string[];
  let families = (spec['ipFamilies'] ??
    (headless ? [] : ips.map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4')))) as ('IPv4' | 'IPv6')[];
  const free = headless && !spec['selector'] && families.length === 0;
  const policy = (spec['ipFamilyPolicy'] ||
    (allocate.dualStack && (free || families.length === 2) ? 'RequireDualStack' : 'SingleStack')) as string;
  if (families.length === 0) families = ['IPv4'];
  if (policy === 'SingleStack' || !allocate.dualStack) families = families.slice(0, 1);
  else if (families.length === 1) families = [...families, families[0] === 'IPv4' ? 'IPv6' : 'IPv4'];
  const clusterIPs = headless ? ['None'] : families.map((family, i) => ips[i] || allocate.clusterIP(family));
  Object.assign(spec, { clusterIP: clusterIPs[0], clusterIPs, ipFamilies: families, ipFamilyPolicy: policy });
}

function defaultPod(pod: RawObject): void {
  const { spec = {} } = pod;
  spec['terminationGracePeriodSeconds'] ??= 30;
  for (const list of ['containers', 'initContainers']) {
    for (const container of (spec[list] ?? []) as { ports?: PortFields[] }[])
      for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  }
  pod.status = { phase: 'Pending', ...pod.status };
}

function defaultEndpoints(endpoints: RawObject): void {
  const subsets = (endpoints['subsets'] ?? []) as Fields[];
  if (subsets.length === 0) delete endpoints['subsets'];
  for (const subset of subsets) {
    for (const field of ['addresses', 'notReadyAddresses', 'ports'])
      if (isEmpty(subset[field])) delete subset[field];
    for (const port of (subset['ports'] ?? []) as PortFields[]) {
      port.protocol ||= 'TCP';
      if (!port['name']) delete port['name'];
    }
  }
}

function defaultSlice(slice: RawObject): void {
  // Both lists are printed even when they are empty, and then as null (API-2).
  for (const field of ['endpoints', 'ports']) if (isEmpty(slice[field])) slice[field] = null;
  for (const endpoint of (slice['endpoints'] ?? []) as Fields[]) endpoint['conditions'] ??= {};
  for (const port of (slice['ports'] ?? []) as PortFields[]) {
    port['name'] ??= '';
    port.protocol ??= 'TCP';
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
