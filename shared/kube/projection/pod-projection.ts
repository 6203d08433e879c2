/**
 * The fields of a Pod as compact text. Each run reads all Pods of a namespace, so their text is as short as
 * it can plainly be.
 */
import type { Labels } from '../labels.ts';
import type { Pod } from '../types.ts';
import { encodeTime, parsedProjection, type Time, time } from './projected-fields.ts';

type Uid = string;

/**
 * A UUID as 22 characters of base64 instead of 36; any other text as it is, after a "-" where it could be
 * taken for one.
 */
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
const decodePhase = (code: Phase): string | undefined => (typeof code === 'number' ? phases[code] : code);

/** `[name, number]` is a TCP port. */
type PortTuple = readonly [name: string, port: number, protocol?: string];
export type PodTuple = readonly [
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

export function encodePod(p: Pod): PodTuple {
  const ready = p.status?.conditions?.find((c) => c.type === 'Ready');
  const tuple = [
    encodeUid(p.metadata.uid ?? ''),
    p.metadata.labels ?? {},
    namedPorts(p.spec?.containers ?? []),
    p.spec?.nodeName ?? '',
    encodePhase(p.status?.phase ?? ''),
    podIPsOf(p),
    encodeStatus(ready?.status ?? ''),
    encodeTime(ready?.lastTransitionTime),
  ] as const;
  const rest = restOf(p);
  return Object.keys(rest).length > 0 ? [...tuple, rest] : tuple;
}

const podIPsOf = ({ status }: Pod): readonly string[] => (status?.podIPs ?? []).map(({ ip }) => ip);

/** Fields that most pods lack. */
function restOf(p: Pod): NonNullable<PodTuple[8]> {
  const { hostname, subdomain } = p.spec ?? {};
  const deleted = encodeTime(p.metadata.deletionTimestamp);
  const podIP = p.status?.podIP ?? '';
  const side = namedPorts((p.spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always'));
  const grace = p.metadata.deletionGracePeriodSeconds;
  return {
    ...(deleted && { d: deleted }),
    ...(hostname && { h: hostname }),
    ...(subdomain && { s: subdomain }),
    ...(podIP !== (podIPsOf(p)[0] ?? '') && { ip: podIP }),
    ...(side.length > 0 && { side }),
    ...(deleted && grace && { g: grace }),
  };
}

const statuses = ['False', 'True'];
const encodeStatus = (status: string): PodTuple[6] =>
  statuses.includes(status) ? (statuses.indexOf(status) as 0 | 1) : status;
const decodeStatus = (code: PodTuple[6]): string | undefined =>
  typeof code === 'number' ? statuses[code] : code;

function containersOf(ports: readonly PortTuple[], side: readonly PortTuple[] | undefined) {
  const initContainers = side && [{ name: '', restartPolicy: 'Always', ports: containerPorts(side) }];
  return {
    containers: ports.length > 0 ? [{ name: '', ports: containerPorts(ports) }] : [],
    ...(initContainers && { initContainers }),
  };
}

function readyConditions(code: PodTuple[6], since: Time): Pick<NonNullable<Pod['status']>, 'conditions'> {
  const status = decodeStatus(code);
  return status ? { conditions: [{ type: 'Ready', status, ...time('lastTransitionTime', since) }] } : {};
}

export function decodePod(namespace: string, name: string, t: PodTuple): Pod {
  const [uid, labels, ports, nodeName, phaseCode, podIPs, readyCode, readySince, rest] = t;
  const phase = decodePhase(phaseCode);
  const { d = 0, h, s, side, g, ip: podIP = podIPs[0] ?? '' } = rest ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, uid: decodeUid(uid), labels, ...time('deletionTimestamp', d) },
      ...(g && { deletionGracePeriodSeconds: g }),
    },
    spec: {
      ...(nodeName && { nodeName }),
      ...(h && { hostname: h }),
      ...(s && { subdomain: s }),
      ...containersOf(ports, side),
    },
    status: {
      ...(phase && { phase }),
      ...(podIP && { podIP }),
      ...(podIPs.length > 0 && { podIPs: podIPs.map((ip) => ({ ip })) }),
      ...readyConditions(readyCode, readySince),
    },
  };
}

const namedPorts = (containers: NonNullable<Pod['spec']>['containers']): PortTuple[] =>
  containers.flatMap((c) =>
    (c.ports ?? [])
      .filter((p) => p.name)
      .map(
        (p): PortTuple =>
          p.protocol === 'TCP'
            ? [p.name as string, p.containerPort]
            : [p.name as string, p.containerPort, p.protocol ?? ''],
      ),
  );

const containerPorts = (ports: readonly PortTuple[]) =>
  ports.map(([name, containerPort, protocol = 'TCP']) => ({
    name,
    containerPort,
    ...(protocol && { protocol }),
  }));

/** The labels alone, for matching, without building the pod. */
export const labelsOfProjectedPod = (text: string): Labels => parsePod(text)[1];

/**
 * Builds its pod when it is first needed. Most pods of a namespace only show by their labels that a selector
 * does not match them.
 */
export class ProjectedPod {
  readonly name: string;
  readonly #namespace: string;
  readonly #tuple: PodTuple;
  #pod: Pod | undefined;

  /** Throws a SyntaxError on text that `encodeProjection` did not make. */
  constructor(namespace: string, name: string, text: string) {
    this.name = name;
    this.#namespace = namespace;
    this.#tuple = parsePod(text);
  }

  get labels(): Labels {
    return this.#tuple[1];
  }

  get pod(): Pod {
    this.#pod ??= decodePod(this.#namespace, this.name, this.#tuple);
    return this.#pod;
  }
}

const parsePod = (text: string): PodTuple => parsedProjection('Pod', text) as unknown as PodTuple;
