/** Where what is served is not what the controllers would write now. */

import { portMapKey, portsByPod } from '#shared/controllers/slices/ports.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { bad, type Cause, note } from './cause.ts';
import { someNames } from './named-pods.ts';
import { eventsOf, messageOf, newestEvent } from './object-events.ts';
import { isServedReady, type ServedEndpoint } from './reach.ts';
import type { SelectedPod } from './selected-pods.ts';
import type { World } from './world.ts';

export interface Difference {
  /** Ready and not in a slice. */
  readonly missing: readonly string[];
  /** In a slice as ready, and gone, not ready or not selected. */
  readonly stale: readonly string[];
  /** In a slice as ready, and ready, though its zone is away or its node gone: it serves until it is taken out. */
  readonly leaving: readonly string[];
  /** In a slice, on other ports. */
  readonly otherPorts: readonly string[];
}

const leaves: readonly (Cause['code'] | undefined)[] = ['ZoneAway', 'NodeUnknown'];

/** `served` are the endpoints of the Service's own writer. */
export function differenceOf(
  service: Service,
  pods: readonly SelectedPod[],
  served: readonly ServedEndpoint[],
): Difference {
  const ready = served.filter((s) => s.pod !== '' && isServedReady(s.endpoint));
  const readyNames = new Set(ready.map((s) => s.pod));
  const wanted = new Map(pods.filter((p) => p.isWantedReady).map((p) => [p.name, p]));
  const uidOf = (s: ServedEndpoint): string | undefined => s.endpoint.targetRef?.uid;
  const isStale = (s: ServedEndpoint): boolean => {
    const pod = wanted.get(s.pod)?.pod;
    return !pod || (uidOf(s) !== undefined && uidOf(s) !== pod.metadata.uid);
  };
  const portsOf = portsByPod(service);
  const otherPorts = ready.filter((s) => {
    const pod = wanted.get(s.pod)?.pod;
    return pod && portMapKey(s.slice.ports) !== portsOf(pod).key;
  });
  const listed = ready.filter(isStale).map((s) => s.pod);
  const leaving = new Set(pods.filter((p) => leaves.includes(p.cause?.code)).map((p) => p.name));
  return {
    missing: [...wanted.keys()].filter((name) => !readyNames.has(name)),
    stale: [...new Set(listed.filter((name) => !leaving.has(name)))],
    leaving: [...new Set(listed.filter((name) => leaving.has(name)))],
    otherPorts: [...new Set(otherPorts.map((s) => s.pod))],
  };
}

export const isDifferent = ({ missing, stale, leaving, otherPorts }: Difference): boolean =>
  missing.length + stale.length + leaving.length + otherPorts.length > 0;

export const differenceText = ({ missing, stale, leaving, otherPorts }: Difference): string =>
  [
    missing.length > 0 && `${someNames(missing)} ${areOf(missing)} ready and not listed`,
    stale.length > 0 && `${someNames(stale)} ${areOf(stale)} gone or not ready and still listed`,
    leaving.length > 0 && `${someNames(leaving)} ${areOf(leaving)} to be taken out and still listed`,
    otherPorts.length > 0 && `${someNames(otherPorts)} ${areOf(otherPorts)} listed on the former ports`,
  ]
    .filter(Boolean)
    .join('; ');

const areOf = (names: readonly string[]): string => (names.length === 1 ? 'is' : 'are');

/** The built-in controllers write within a second or two. */
const patienceMs = 5_000;

/** The time of the newest change that made the difference, ms since the epoch. */
export function changedAtMs({ pods, service }: World, difference: Difference): number {
  const names = new Set([...difference.missing, ...difference.stale, ...difference.leaving]);
  const times = [
    ...pods.filter((p) => names.has(p.metadata.name)).flatMap(timesOf),
    ...(service?.metadata.managedFields ?? []).flatMap((f) => f.time ?? []),
    service?.metadata.creationTimestamp,
  ];
  return Math.max(0, ...times.flatMap((t) => (t ? [Date.parse(String(t))] : [])).filter(Number.isFinite));
}

const timesOf = (pod: Pod): readonly unknown[] => [
  pod.metadata.creationTimestamp,
  pod.metadata.deletionTimestamp,
  ...(pod.status?.conditions ?? []).filter((c) => c.type === 'Ready').map((c) => c.lastTransitionTime),
  ...(isPodReady(pod) ? (pod.metadata.managedFields ?? []).map((f) => f.time) : []),
];

/** Why the built-in controllers have not written it, as far as the cluster shows. */
export function unwrittenCause(world: World, difference: Difference): Cause {
  const text = differenceText(difference);
  const sinceMs = changedAtMs(world, difference);
  const ageMs = world.now - sinceMs;
  const refused = newestEvent(
    eventsOf(world.around.events ?? [], 'Service', world.name),
    'FailedToUpdateEndpointSlices',
    'FailedToCreateEndpoint',
    'FailedToUpdateEndpoint',
  );
  if (refused) return bad('Refused', `${text}: the API server refuses the write: ${messageOf(refused)}`);
  if (sinceMs > 0 && ageMs < patienceMs)
    return note(
      'NotWritten',
      `${text}: it changed ${Math.max(0, Math.round(ageMs / 1000))} s ago, and the controllers may be about to write it`,
    );
  const age = sinceMs > 0 ? ` for ${ageText(ageMs)}` : '';
  return bad(
    difference.missing.length > 0 ? 'NotWritten' : 'Stale',
    `${text}: the endpoint controllers have not updated it${age}, so they may not run`,
    'look at kube-controller-manager: is it running, and what does it log about the Service?',
  );
}

function ageText(ms: number): string {
  const s = Math.round(ms / 1000);
  return s < 120 ? `${s} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;
}

/** Admission may have refused the slices. Its rules are read, and not run. */
export const admissionCauses = ({ around }: World): readonly Cause[] =>
  (around.admission ?? []).map(({ kind, name, messages }) =>
    bad(
      'AdmissionPolicy',
      `${kind} ${name} decides on EndpointSlices of the namespace, and may have refused them${messages.length > 0 ? `: ${messages.join('; ')}` : ''}`,
      `kubectl describe ${kind.toLowerCase()} ${name}`,
    ),
  );
