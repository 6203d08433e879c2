/** The steps that the pod itself tells: its times are those of the scheduler and of kubelet. */
import type { Pod } from '#shared/kube/types.ts';
import { done, type Step, waits } from './timeline.ts';

const msOf = (time: string | undefined): number | undefined => (time ? Date.parse(time) : undefined);

export function podSteps(pod: Pod): readonly Step[] {
  const { metadata, spec, status } = pod;
  const ips = (status?.podIPs ?? []).map(({ ip }) => ip);
  const started = status?.conditions?.find(
    (c) => c.type === 'PodReadyToStartContainers' && c.status === 'True',
  );
  return [
    done('Created', 'it was created', msOf(metadata.creationTimestamp)),
    conditionStep(pod, 'PodScheduled', {
      step: 'Scheduled',
      yes: `it was scheduled to ${spec?.nodeName ?? 'a node'}`,
      no: 'it is not scheduled',
    }),
    ips.length === 0
      ? waits('PodIP', 'it has no IP')
      : // The condition is young, and its name has changed: no wait is claimed without it.
        done('PodIP', `it got ${ips.join(' and ')}`, msOf(started?.lastTransitionTime)),
    conditionStep(pod, 'ContainersReady', {
      step: 'ContainersReady',
      yes: 'its containers were ready',
      no: 'its containers are not ready',
    }),
    ...(spec?.readinessGates ?? []).map(({ conditionType: type }) => {
      const [yes, no] = [`its readiness gate ${type} was True`, `its readiness gate ${type} is not True`];
      return conditionStep(pod, type, { step: 'ReadinessGate', yes, no }, true);
    }),
    readyStep(pod),
  ];
}

/** All that the hub's snapshot has of a pod. */
export const readyStep = (pod: Pod): Step =>
  conditionStep(pod, 'Ready', { step: 'Ready', yes: 'it was Ready', no: 'it is not Ready' }, true);

type Words = Pick<Step, 'step'> & { readonly yes: string; readonly no: string };

function conditionStep(pod: Pod, type: string, { step, yes, no }: Words, isAbsentWaiting = false): Step {
  const found = pod.status?.conditions?.find((c) => c.type === type);
  if (!found && isAbsentWaiting) return waits(step, no);
  if (!found) return { step, state: 'unknown', text: `${type}: the pod has no such condition` };
  if (found.status === 'True') return done(step, yes, msOf(found.lastTransitionTime));
  const why = [found.reason, found.message].filter(Boolean).join(': ');
  const since = found.lastTransitionTime ? ` since ${found.lastTransitionTime}` : '';
  return waits(step, `${no}${since}${why ? ` (${why})` : ''}`);
}
