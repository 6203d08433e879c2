/**
 * The fields of an object that leave its cluster, as compact text: an allow-list of the fields that the two
 * controllers read. Environment, volumes, images and foreign annotations stay. The next version reads this
 * text: append, never reorder.
 */

import {
  annotationSelector,
  annotationTopologyAwareHints,
  annotationTopologyMode,
  labelControlPlane,
  labelMaster,
  labelZone,
  labelZoneId,
} from '../names.ts';
import type { ClustersetKind, InputKind, Node, ObjectOfKind, Pod, Service, ServicePort } from '../types.ts';
import { decodeClustersetObject, encodeClustersetObject } from './mcs-projection.ts';
import { decodePod, encodePod, type PodTuple } from './pod-projection.ts';
import { encodeTime, parsedProjection, type Time, time } from './projected-fields.ts';

type Labels = { readonly [key: string]: string };

/**
 * The sparse object that the controllers see. `decodeProjection(kind, ns, name, encodeProjection(kind, o))`
 * is the same.
 */
export function project<K extends InputKind>(kind: K, object: ObjectOfKind[K]): ObjectOfKind[K] {
  const { namespace = '', name } = object.metadata;
  return decodeProjection(kind, namespace, name, encodeProjection(kind, object));
}

export function encodeProjection<K extends InputKind>(kind: K, object: ObjectOfKind[K]): string {
  switch (kind) {
    case 'Service':
      return JSON.stringify(encodeService(object as Service));
    case 'Pod':
      return JSON.stringify(encodePod(object as Pod));
    case 'Node':
      return JSON.stringify(encodeNode(object as Node));
    default:
      return encodeClustersetObject(kind, object as ObjectOfKind[ClustersetKind]);
  }
}

/** Throws a SyntaxError on text that `encodeProjection` did not make. */
export function decodeProjection<K extends InputKind>(
  kind: K,
  namespace: string,
  name: string,
  text: string,
): ObjectOfKind[K] {
  const encoded = parsedProjection(kind, text);
  switch (kind) {
    case 'Service':
      return decodeService(namespace, name, encoded as unknown as ServiceTuple) as ObjectOfKind[K];
    case 'Pod':
      return decodePod(namespace, name, encoded as unknown as PodTuple) as ObjectOfKind[K];
    case 'Node':
      return decodeNode(name, encoded as unknown as NodeTuple) as ObjectOfKind[K];
    default:
      return decodeClustersetObject(kind, namespace, name, encoded) as ObjectOfKind[K];
  }
}

type ServiceTuple = readonly [
  uid: string,
  created: Time,
  labels: Labels,
  annotations: Labels,
  deleted: Time,
  spec: Service['spec'],
];

function encodeService(s: Service): ServiceTuple {
  const { type, clusterIP, ipFamilies, selector, ports, publishNotReadyAddresses, trafficDistribution } =
    s.spec ?? {};
  return [
    s.metadata.uid ?? '',
    encodeTime(s.metadata.creationTimestamp),
    s.metadata.labels ?? {},
    pick(s.metadata.annotations, [annotationTopologyAwareHints, annotationTopologyMode, annotationSelector]),
    encodeTime(s.metadata.deletionTimestamp),
    {
      ...(type && { type }),
      ...(clusterIP && { clusterIP }),
      ...(ipFamilies?.length && { ipFamilies }),
      ...(selector && { selector }),
      ...(ports?.length && { ports: ports.map(encodeServicePort) }),
      ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
      ...(trafficDistribution && { trafficDistribution }),
      ...exportedPart(s),
    },
  ];
}

const encodeServicePort = (p: ServicePort): ServicePort => ({
  ...(p.name && { name: p.name }),
  port: p.port,
  ...(p.protocol && { protocol: p.protocol }),
  ...(p.targetPort !== undefined && { targetPort: p.targetPort }),
  ...(p.appProtocol !== undefined && { appProtocol: p.appProtocol }),
});

/** For exports. Defaults of the API server are left out, so the text of most Services stays short. */
function exportedPart({ spec }: Service): Partial<NonNullable<Service['spec']>> {
  const { sessionAffinity, sessionAffinityConfig, internalTrafficPolicy } = spec ?? {};
  return {
    ...(sessionAffinity && sessionAffinity !== 'None' && { sessionAffinity, sessionAffinityConfig }),
    ...(internalTrafficPolicy && internalTrafficPolicy !== 'Cluster' && { internalTrafficPolicy }),
  };
}

function decodeService(
  namespace: string,
  name: string,
  [uid, created, labels, annotations, deleted, spec]: ServiceTuple,
): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace,
      uid,
      labels,
      annotations,
      ...time('creationTimestamp', created),
      ...time('deletionTimestamp', deleted),
    },
    ...(spec && { spec }),
  };
}

type NodeTuple = readonly [
  uid: string,
  zone: string | 0,
  ready: 0 | 1,
  cpu: string | 0,
  controlPlane?: 0 | 1,
  zoneId?: string,
];

function encodeNode(n: Node): NodeTuple {
  const labels = n.metadata.labels ?? {};
  const ready = n.status?.conditions?.find((c) => c.type === 'Ready')?.status === 'True' ? 1 : 0;
  const tuple = [
    n.metadata.uid ?? '',
    labels[labelZone] ?? 0,
    ready,
    n.status?.allocatable?.['cpu'] ?? 0,
  ] as const;
  const controlPlane = labelControlPlane in labels || labelMaster in labels ? 1 : 0;
  const zoneId = labels[labelZoneId];
  if (zoneId) return [...tuple, controlPlane, zoneId];
  return controlPlane ? [...tuple, controlPlane] : tuple;
}

function decodeNode(name: string, [uid, zone, ready, cpu, controlPlane, zoneId]: NodeTuple): Node {
  const labels = {
    ...(zone !== 0 && { [labelZone]: zone }),
    ...(controlPlane && { [labelControlPlane]: '' }),
    ...(zoneId && { [labelZoneId]: zoneId }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, labels },
    status: {
      ...(cpu !== 0 && { allocatable: { cpu } }),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

function pick(map: Labels | undefined, keys: readonly string[]): Labels {
  const found = keys.filter((k) => map?.[k] !== undefined);
  return Object.fromEntries(found.map((k) => [k, (map as Labels)[k] as string]));
}
