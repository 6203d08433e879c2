/**
 * The fields of an object that leave its cluster, as compact text: an allow-list of the fields that the two controllers read.
 * Environment, volumes, images and foreign annotations stay. The next version reads this text: append, never reorder.
 */
import { decodeClustersetObject, encodeClustersetObject } from './clusterset-projection.ts';
import { annotationSelector, annotationTopologyAwareHints, annotationTopologyMode, labelControlPlane, labelMaster, labelZone } from './names.ts';
import type { ClustersetKind, InputKind, Node, ObjectOfKind, Pod, Service } from './types.ts';

type Labels = { readonly [key: string]: string };

/** The sparse object that the controllers see. `decodeProjection(kind, ns, name, encodeProjection(kind, o))` is the same. */
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
export function decodeProjection<K extends InputKind>(kind: K, namespace: string, name: string, text: string): ObjectOfKind[K] {
  const encoded: unknown = JSON.parse(text);
  if (!Array.isArray(encoded) || encoded.length === 0) throw new SyntaxError(`not the projection of a ${kind}: ${text.slice(0, 80)}`);
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

/** The labels alone, for matching, without building the pod. */
export function labelsOfProjectedPod(text: string): Labels {
  return (JSON.parse(text) as PodTuple)[1];
}

type ServiceTuple = readonly [uid: string, created: Time, labels: Labels, annotations: Labels, deleted: Time, spec: Service['spec']];

function encodeService(s: Service): ServiceTuple {
  const { type, clusterIP, ipFamilies, selector, ports, publishNotReadyAddresses, trafficDistribution } = s.spec ?? {};
  const { sessionAffinity, sessionAffinityConfig, internalTrafficPolicy } = s.spec ?? {};
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
      ...(ports?.length && {
        ports: ports.map((p) => ({
          ...(p.name && { name: p.name }),
          port: p.port,
          ...(p.protocol && { protocol: p.protocol }),
          ...(p.targetPort !== undefined && { targetPort: p.targetPort }),
          ...(p.appProtocol !== undefined && { appProtocol: p.appProtocol }),
        })),
      }),
      ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
      ...(trafficDistribution && { trafficDistribution }),
      // For exports. Defaults of the API server are left out, so the text of most Services stays short.
      ...(sessionAffinity && sessionAffinity !== 'None' && { sessionAffinity, sessionAffinityConfig }),
      ...(internalTrafficPolicy && internalTrafficPolicy !== 'Cluster' && { internalTrafficPolicy }),
    },
  ];
}

function decodeService(namespace: string, name: string, [uid, created, labels, annotations, deleted, spec]: ServiceTuple): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, uid, labels, annotations, ...time('creationTimestamp', created), ...time('deletionTimestamp', deleted) },
    ...(spec && { spec }),
  };
}

/** Pods are what a snapshot is made of, and each sync reads all of its namespace: their text is as short as it can plainly be. */
type Uid = string;

/** A UUID as 22 characters of base64 instead of 36; any other text as it is, after a "-" where it could be taken for one. */
function encodeUid(uid: string): Uid {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uid)) {
    const bytes = uid.replaceAll('-', '').match(/../g) ?? [];
    return btoa(String.fromCharCode(...bytes.map((b) => Number.parseInt(b, 16)))).slice(0, 22);
  }
  return uid.length === 22 || uid.startsWith('-') ? `-${uid}` : uid;
}

function decodeUid(text: Uid): string {
  if (text.startsWith('-')) return text.slice(1);
  if (text.length !== 22) return text;
  const hex = [...atob(text)].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A known phase by its place, another by its name. */
type Phase = number | string;
const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
const encodePhase = (phase: string): Phase => (phases.includes(phase) ? phases.indexOf(phase) : phase);

/** `[name, number]` is a TCP port. */
type PortTuple = readonly [name: string, port: number, protocol?: string];
type PodTuple = readonly [
  uid: Uid,
  labels: Labels,
  /** Named ports of the regular containers, in order: only a name has to be resolved. */
  ports: readonly PortTuple[],
  nodeName: string,
  phase: Phase,
  podIPs: readonly string[],
  /** Status of the first Ready condition: 1 for True, 0 for False, "" without one. */
  ready: 0 | 1 | string,
  readySince: Time,
  rest?: {
    readonly d?: Time;
    readonly h?: string;
    readonly s?: string;
    /** status.podIP, where it is not the first of podIPs. */
    readonly ip?: string;
    /** Named ports of the init containers that keep running. */
    readonly side?: readonly PortTuple[];
    /** metadata.deletionGracePeriodSeconds, for explain and the history alone; left out for 0. */
    readonly g?: number;
  },
];

function encodePod(p: Pod): PodTuple {
  const podIPs = (p.status?.podIPs ?? []).map((i) => i.ip);
  const ready = p.status?.conditions?.find((c) => c.type === 'Ready');
  const deleted = encodeTime(p.metadata.deletionTimestamp);
  const podIP = p.status?.podIP ?? '';
  const side = namedPorts((p.spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always'));
  const rest = {
    ...(deleted && { d: deleted }),
    ...(p.spec?.hostname && { h: p.spec.hostname }),
    ...(p.spec?.subdomain && { s: p.spec.subdomain }),
    ...(podIP !== (podIPs[0] ?? '') && { ip: podIP }),
    ...(side.length > 0 && { side }),
    ...(deleted && p.metadata.deletionGracePeriodSeconds && { g: p.metadata.deletionGracePeriodSeconds }),
  };
  const tuple = [
    encodeUid(p.metadata.uid ?? ''),
    p.metadata.labels ?? {},
    namedPorts(p.spec?.containers ?? []),
    p.spec?.nodeName ?? '',
    encodePhase(p.status?.phase ?? ''),
    podIPs,
    ready?.status === 'True' ? 1 : ready?.status === 'False' ? 0 : (ready?.status ?? ''),
    encodeTime(ready?.lastTransitionTime),
  ] as const;
  return Object.keys(rest).length > 0 ? [...tuple, rest] : tuple;
}

function decodePod(namespace: string, name: string, t: PodTuple): Pod {
  const [uid, labels, ports, nodeName, phaseCode, podIPs, readyCode, readySince, rest] = t;
  const phase = typeof phaseCode === 'number' ? phases[phaseCode] : phaseCode;
  const ready = readyCode === 1 ? 'True' : readyCode === 0 ? 'False' : readyCode;
  const podIP = rest?.ip ?? podIPs[0] ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, uid: decodeUid(uid), labels, ...time('deletionTimestamp', rest?.d ?? 0) },
      ...(rest?.g && { deletionGracePeriodSeconds: rest.g }),
    },
    spec: {
      ...(nodeName && { nodeName }),
      ...(rest?.h && { hostname: rest.h }),
      ...(rest?.s && { subdomain: rest.s }),
      containers: ports.length > 0 ? [{ name: '', ports: containerPorts(ports) }] : [],
      ...(rest?.side && { initContainers: [{ name: '', restartPolicy: 'Always', ports: containerPorts(rest.side) }] }),
    },
    status: {
      ...(phase && { phase }),
      ...(podIP && { podIP }),
      ...(podIPs.length > 0 && { podIPs: podIPs.map((ip) => ({ ip })) }),
      ...(ready && { conditions: [{ type: 'Ready', status: ready, ...time('lastTransitionTime', readySince) }] }),
    },
  };
}

const namedPorts = (containers: NonNullable<Pod['spec']>['containers']): PortTuple[] =>
  containers.flatMap((c) =>
    (c.ports ?? [])
      .filter((p) => p.name)
      .map((p): PortTuple => (p.protocol === 'TCP' ? [p.name as string, p.containerPort] : [p.name as string, p.containerPort, p.protocol ?? ''])),
  );

const containerPorts = (ports: readonly PortTuple[]) =>
  ports.map(([name, containerPort, protocol = 'TCP']) => ({ name, containerPort, ...(protocol && { protocol }) }));

type NodeTuple = readonly [uid: string, zone: string | 0, ready: 0 | 1, cpu: string | 0, controlPlane?: 1];

function encodeNode(n: Node): NodeTuple {
  const labels = n.metadata.labels ?? {};
  const ready = n.status?.conditions?.find((c) => c.type === 'Ready')?.status === 'True' ? 1 : 0;
  const tuple = [n.metadata.uid ?? '', labels[labelZone] ?? 0, ready, n.status?.allocatable?.['cpu'] ?? 0] as const;
  return labelControlPlane in labels || labelMaster in labels ? [...tuple, 1] : tuple;
}

function decodeNode(name: string, [uid, zone, ready, cpu, controlPlane]: NodeTuple): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, labels: { ...(zone !== 0 && { [labelZone]: zone }), ...(controlPlane && { [labelControlPlane]: '' }) } },
    status: { ...(cpu !== 0 && { allocatable: { cpu } }), conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

/** Seconds since the epoch, or the text itself where it is not a whole second in UTC; 0 for none. */
type Time = number | string;

function encodeTime(text: string | null | undefined): Time {
  if (!text) return 0;
  const seconds = Date.parse(text) / 1000;
  // the epoch itself stays text: 0 means none
  return seconds !== 0 && Number.isInteger(seconds) && rfc3339(seconds) === text ? seconds : text;
}

const rfc3339 = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** An optional time field, left out if it is empty. */
function time<N extends string>(field: N, t: Time): { readonly [K in N]?: string } {
  return (t === 0 ? {} : { [field]: typeof t === 'number' ? rfc3339(t) : t }) as { readonly [K in N]?: string };
}

function pick(map: Labels | undefined, keys: readonly string[]): Labels {
  const found = keys.filter((k) => map?.[k] !== undefined);
  return Object.fromEntries(found.map((k) => [k, (map as Labels)[k] as string]));
}
