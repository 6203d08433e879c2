/** The status that a kubelet reports of a pod, with its reasons and messages. */
import { type Fields, listIn, type RawObject } from '../apiserver/api-kinds.ts';
import { canPull } from './workload-apps.ts';

const conditionsOf = ({ status }: RawObject): readonly Fields[] => listIn(status?.['conditions']);

/** The pod has an address. */
export const isStarted = ({ status }: RawObject): boolean => status?.['podIP'] !== undefined;

/** Text of the conditions that others set, such as those of readiness gates. */
export const gatesOf = (pod: RawObject): string =>
  JSON.stringify(
    conditionsOf(pod).filter(({ type }) => !/^(PodScheduled|ContainersReady|Ready)$/.test(String(type))),
  );

/** The containers have just been started, as far as their images can be pulled. `time` is RFC 3339. */
export function startedStatus(pod: RawObject, time: string): Fields {
  const statuses = listIn(pod.spec?.['containers']).map(({ name, image }) => {
    const isThere = canPull(String(image));
    const state = isThere ? { running: { startedAt: time } } : { waiting: waiting(String(image)) };
    return { name, image, ready: false, started: isThere, restartCount: 0, state };
  });
  const phase = statuses.every(({ started }) => started) ? 'Running' : 'Pending';
  const notReady = conditionsNow({ ...pod, status: { containerStatuses: statuses } }, time);
  return { phase, startTime: time, containerStatuses: statuses, conditions: notReady };
}

const waiting = (image: string): Fields => ({
  reason: 'ImagePullBackOff',
  message: `Back-off pulling image "${image}"`,
});

/** `succeeds`: so do the probes of the running containers. Returns undefined if nothing changes. */
export function readinessStatus(pod: RawObject, succeeds: boolean, time: string): Fields | undefined {
  const statuses = listIn(pod.status?.['containerStatuses']).map(
    (s): Fields => ({ ...s, ready: succeeds && s['started'] === true }),
  );
  const next = conditionsNow({ ...pod, status: { ...pod.status, containerStatuses: statuses } }, time);
  const changed = next.filter((c) => {
    const before = conditionsOf(pod).find(({ type }) => type === c['type']);
    return ['status', 'reason', 'message'].some((field) => before?.[field] !== c[field]);
  });
  return changed.length === 0 ? undefined : { containerStatuses: statuses, conditions: changed };
}

function conditionsNow(pod: RawObject, time: string): readonly Fields[] {
  const unready = listIn(pod.status?.['containerStatuses'])
    .filter((s) => s['ready'] !== true)
    .map((s) => s['name']);
  const containers = whyUnready(unready);
  return [
    condition('ContainersReady', containers, time),
    condition('Ready', containers ?? whyGated(pod), time),
  ];
}

interface Why {
  readonly reason: string;
  readonly message: string;
}

const condition = (type: string, why: Why | undefined, time: string): Fields => ({
  type,
  status: why ? 'False' : 'True',
  lastTransitionTime: time,
  // A patch removes the former reason.
  reason: why?.reason ?? null,
  message: why?.message ?? null,
});

const whyUnready = (names: readonly unknown[]): Why | undefined =>
  names.length === 0
    ? undefined
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${names.join(' ')}]` };

function whyGated(pod: RawObject): Why | undefined {
  const messages = listIn(pod.spec?.['readinessGates']).flatMap(({ conditionType: gate }) => {
    const set = conditionsOf(pod).find(({ type }) => type === gate);
    if (set?.['status'] === 'True') return [];
    return set
      ? [`the status of pod readiness gate "${gate}" is not "True", but ${set['status']}`]
      : [`corresponding condition of pod readiness gate "${gate}" does not exist.`];
  });
  return messages.length === 0
    ? undefined
    : { reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
