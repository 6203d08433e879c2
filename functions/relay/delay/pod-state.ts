import type { EndpointChange } from '#shared/contract/endpoint-delay.ts';
import { isPodReady, shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import type { Pod } from '#shared/kube/types.ts';

/** A pod as slices have to show it. Two bits. */
export type PodState = (typeof podStates)[keyof typeof podStates];
const podStates = { unknown: 0, notReady: 1, ready: 2, deleting: 3 } as const;

export function podState(pod: Pod): PodState {
  if (pod.metadata.deletionTimestamp) return podStates.deleting;
  return isPodReady(pod) && shouldPodBeInEndpoints(pod, false) ? podStates.ready : podStates.notReady;
}

/** `unknown` before: the pod is new. A pod that is gone has the state `deleting`. */
export function changeOfPod(before: PodState, after: PodState): EndpointChange | undefined {
  if (before === after) return undefined;
  if (after === podStates.ready) return 'ready';
  if (before === podStates.unknown) return undefined;
  if (after === podStates.deleting) return 'deleted';
  return before === podStates.ready ? 'not_ready' : undefined;
}

export const goneState: PodState = podStates.deleting;
export const unknownState: PodState = podStates.unknown;
