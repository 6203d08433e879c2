import { readyCondition } from '#shared/kube/pods.ts';
import type { Pod, Service } from '#shared/kube/types.ts';

/**
 * The times that the last computation for one service used (TT-1). Pods without a time are missing (TT-3).
 */
export interface TriggerTimes {
  /** Creation time of the service at the last computation, in ms since the epoch. */
  readonly service: number;
  /** Pod name → its trigger time at the last computation, in ms since the epoch. */
  readonly pods: ReadonlyMap<string, number>;
}

/** Go's zero time, year 1: "no time", and before every other one. */
export const zeroTime = -62_135_596_800_000;

/**
 * Returns the text of the trigger-time annotation: the time of the earliest change that this run is the first
 * to see. Returns undefined if no time is known, and the annotation is removed (TT-15). Mirrors
 * ComputeEndpointLastChangeTriggerTime of k8s.io/endpointslice.
 *
 * Computing consumes: save `next` even without a write (TT-14). `pods` are all pods that the selector
 * matches, ready or not.
 */
export function computeTriggerTime(
  state: TriggerTimes | undefined,
  service: Service,
  pods: readonly Pod[],
): { readonly triggerTime: string | undefined; readonly next: TriggerTimes } {
  const created = parse(service.metadata.creationTimestamp);
  const times = new Map<string, number>();
  let earliest = Number.POSITIVE_INFINITY;
  for (const pod of pods) {
    const time = parse(readyCondition(pod)?.lastTransitionTime);
    if (time === zeroTime) continue;
    times.set(pod.metadata.name, time);
    if (time > (state?.pods.get(pod.metadata.name) ?? zeroTime)) earliest = Math.min(earliest, time);
  }
  if (created > (state?.service ?? zeroTime)) earliest = Math.min(earliest, created);
  return { triggerTime: format(state ? earliest : created), next: { service: created, pods: times } };
}

function parse(text: string | null | undefined): number {
  const ms = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? zeroTime : ms;
}

/** RFC 3339 in UTC, trailing zeros of the fraction trimmed. */
function format(ms: number): string | undefined {
  if (ms === zeroTime || ms === Number.POSITIVE_INFINITY) return undefined;
  return new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z');
}
