/**
 * What kubelet and the scheduler say of a Pod that is not ready, as compact text. It is for answers alone: an
 * attribute of its own beside the projection, so that no decision can depend on it, and a change of it wakes
 * no Service. An allow-list as the projection is: reasons, types of conditions and names of containers, and
 * of messages only those of the conditions Ready and PodScheduled, cut.
 */
import type { Pod } from '../types.ts';

/** Longest text that is sent of a Pod, bytes. */
export const maxNotReadyBytes = 1024;
const maxMessageBytes = 160;
const maxNameBytes = 64;

type RunText = readonly [reason: string, message: string];
/** `w` waits, `e` has ended, `u` startup probe has not succeeded, `p` readiness probe fails, `r` runs. */
type ContainerState = 'w' | 'e' | 'u' | 'p' | 'r';
type ContainerTuple = readonly [name: string, state: ContainerState, reason?: string, exitCode?: number];

interface NotReady {
  /** The condition Ready. */
  readonly r?: RunText;
  /** The condition PodScheduled, if it is False. */
  readonly s?: RunText;
  /** Readiness gates whose condition is not True; without a status there is no condition. */
  readonly g?: readonly (readonly [type: string, status?: string])[];
  /** The init container, or the sidecar, that holds the others up. */
  readonly i?: ContainerTuple;
  /** It is a sidecar. */
  readonly b?: 1;
  /** Containers that are not ready. */
  readonly c?: readonly ContainerTuple[];
  /** status.reason, such as Evicted. */
  readonly p?: string;
}

type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];
type Container = NonNullable<Pod['spec']>['containers'][number];

/** Returns undefined for a Pod that is ready or goes, and for one of which nothing is known. */
export function encodeNotReady(pod: Pod): string | undefined {
  const { conditions } = pod.status ?? {};
  const ready = conditions?.find((c) => c.type === 'Ready');
  if (pod.metadata.deletionTimestamp || ready?.status === 'True') return undefined;
  for (const atMost of [8, 2, 0]) {
    const text = JSON.stringify(notReadyOf(pod, atMost));
    if (text === '{}') return undefined;
    if (bytesOf(text) <= maxNotReadyBytes) return text;
  }
  return undefined;
}

/** `atMost`: containers and gates, of which a tenant may have any number. */
function notReadyOf({ spec, status = {} }: Pod, atMost: number): NotReady {
  const conditionOf = (type: string) => status.conditions?.find((c) => c.type === type);
  const ready = conditionOf('Ready');
  const scheduled = conditionOf('PodScheduled');
  const gates = (spec?.readinessGates ?? []).flatMap(({ conditionType }): NonNullable<NotReady['g']> => {
    const is = conditionOf(conditionType)?.status;
    if (is === 'True') return [];
    return [is === undefined ? [short(conditionType)] : [short(conditionType), short(is)]];
  });
  const policy = spec?.restartPolicy;
  const declared = new Map((spec?.containers ?? []).map((c) => [c.name, c]));
  const unready = (status.containerStatuses ?? []).filter((c) => !c.ready);
  const containers = unready.map((c) => containerTuple(c, declared.get(c.name), policy));
  const holding = atMost > 0 ? holdingInit({ spec, status }) : undefined;
  return {
    ...(ready && told(ready) && { r: told(ready) }),
    ...(scheduled?.status === 'False' && told(scheduled) && { s: told(scheduled) }),
    ...(gates.length > 0 && atMost > 0 && { g: gates.slice(0, atMost) }),
    ...holding,
    ...(containers.length > 0 && atMost > 0 && { c: containers.slice(0, atMost) }),
    ...(status.reason && { p: short(status.reason) }),
  };
}

const told = ({ reason = '', message = '' }: { reason?: string; message?: string }): RunText | undefined =>
  reason || message ? [short(reason), cut(message, maxMessageBytes)] : undefined;

/** Init containers run one after the other: a later one waits for this one. */
function holdingInit({ spec, status }: Pick<Pod, 'spec' | 'status'>): Pick<NotReady, 'i' | 'b'> | undefined {
  for (const container of status?.initContainerStatuses ?? []) {
    const declared = spec?.initContainers?.find((c) => c.name === container.name);
    const isSidecar = declared?.restartPolicy === 'Always';
    if (letsNextRun(container, isSidecar)) continue;
    const tuple = containerTuple(container, declared, isSidecar ? 'Always' : spec?.restartPolicy);
    return isSidecar ? { i: tuple, b: 1 } : { i: tuple };
  }
  return undefined;
}

const isToBeRestarted = ({ exitCode }: { readonly exitCode: number }, restartPolicy: string): boolean =>
  restartPolicy === 'Always' || (restartPolicy !== 'Never' && exitCode !== 0);

const letsNextRun = ({ ready, state }: ContainerStatus, isSidecar: boolean): boolean =>
  isSidecar ? ready : state?.terminated?.exitCode === 0;

function containerTuple(
  { name, state = {}, started, restartCount }: ContainerStatus,
  declared: Container | undefined,
  restartPolicy = 'Always',
): ContainerTuple {
  const { waiting, terminated } = state;
  const named = short(name);
  if (waiting?.reason) return [named, 'w', short(waiting.reason)];
  if (waiting) return [named, 'w'];
  if (terminated) {
    const isInLoop = restartCount > 0 && isToBeRestarted(terminated, restartPolicy) && !ranLong(terminated);
    if (isInLoop) return [named, 'w', 'CrashLoopBackOff'];
    return [named, 'e', short(terminated.reason ?? ''), terminated.exitCode];
  }
  if (declared?.startupProbe && started !== true) return [named, 'u'];
  return [named, declared?.readinessProbe ? 'p' : 'r'];
}

/** Kubelet's back-off begins anew after a run of twice its longest wait. */
const backOffResetMs = 600_000;

/**
 * Kubelet says the reason of the end for a second or two, and then CrashLoopBackOff until the next start. If
 * both were sent, each crash would be two changes.
 */
const ranLong = ({
  startedAt,
  finishedAt,
}: NonNullable<NonNullable<ContainerStatus['state']>['terminated']>) =>
  Date.parse(String(finishedAt)) - Date.parse(String(startedAt)) > backOffResetMs;

const initContainerOf = (i: ContainerTuple, b: NotReady['b']) => ({
  ...containerOf(i),
  ...(b && { restartPolicy: 'Always' }),
});

function conditionsOf(pod: Pod, { r, s, g = [] }: NotReady) {
  const known = pod.status?.conditions ?? [];
  return [
    ...known.map((is) => (is.type === 'Ready' && r ? { ...is, ...reasonOf(r) } : is)),
    ...(s ? [{ type: 'PodScheduled', status: 'False', ...reasonOf(s) }] : []),
    ...g.flatMap(([type, status]) => (status === undefined ? [] : [{ type, status }])),
  ];
}

/**
 * The Pod of a projection with what this text says of it, as kubelet and scheduler would show it, for answers
 * alone. Fields that are not sent are absent, also where Kubernetes always has them. Text that
 * `encodeNotReady` did not make changes nothing.
 */
export function withNotReady(pod: Pod, text: string | undefined): Pod {
  const known = text === undefined ? undefined : parsed(text);
  if (!known) return pod;
  const { g = [], i, b, c = [], p } = known;
  const conditions = conditionsOf(pod, known);
  const spec = pod.spec ?? { containers: [] };
  return {
    ...pod,
    spec: {
      ...spec,
      containers: [...spec.containers, ...c.map(containerOf)],
      ...(i && { initContainers: [...(spec.initContainers ?? []), initContainerOf(i, b)] }),
      ...(g.length > 0 && { readinessGates: g.map(([conditionType]) => ({ conditionType })) }),
    },
    status: {
      ...pod.status,
      ...(p && { reason: p }),
      ...(conditions.length > 0 && { conditions }),
      ...(i && { initContainerStatuses: [statusOf(i)] }),
      ...(c.length > 0 && { containerStatuses: c.map(statusOf) }),
    },
  };
}

const reasonOf = ([reason, message]: RunText) => ({ ...(reason && { reason }), ...(message && { message }) });

const containerOf = ([name, state]: ContainerTuple): Container => ({
  name,
  ...(state === 'u' && { startupProbe: {} }),
  ...(state === 'p' && { readinessProbe: {} }),
});

function statusOf([name, state, reason, exitCode]: ContainerTuple): ContainerStatus {
  const is = { name, ready: false, ...(state === 'u' && { started: false }) };
  if (state === 'w') return { ...is, state: { waiting: reason ? { reason } : {} } } as ContainerStatus;
  if (state === 'e') return { ...is, state: { terminated: { reason, exitCode } } } as ContainerStatus;
  return { ...is, state: { running: {} } } as ContainerStatus;
}

/** A hostile relay may send anything, and a terminal would interpret control characters. */
function parsed(text: string): NotReady | undefined {
  try {
    const known = JSON.parse(text, (_, value: unknown) =>
      typeof value === 'string' ? cut(value, maxNotReadyBytes) : value,
    ) as { readonly [field in keyof NotReady]?: unknown };
    const { r, s, g, i, c, p } = known;
    const isKnown = [r, s, i].every(isTupleOr) && [g, c].every(areTuplesOr) && isTextOr(p);
    return isKnown ? (known as NotReady) : undefined;
  } catch {
    return undefined;
  }
}

const isTextOr = (value: unknown): boolean => value === undefined || typeof value === 'string';
/** Texts, and as the last one an exit code. */
const isTupleOr = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.every((v, i) => typeof v === (i === 3 ? 'number' : 'string')));
const areTuplesOr = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every((v) => v !== undefined && isTupleOr(v)));

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const short = (text: string): string => cut(text, maxNameBytes);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]+/g;

/** The text's first bytes, without half of a character, and without what a terminal would interpret. */
function cut(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text.slice(0, maxBytes).replace(controlCharacters, ' '));
  if (bytes.length <= maxBytes && text.length <= maxBytes) return new TextDecoder().decode(bytes);
  return `${new TextDecoder().decode(bytes.subarray(0, maxBytes - 3)).replace(/\ufffd+$/, '')}…`;
}
