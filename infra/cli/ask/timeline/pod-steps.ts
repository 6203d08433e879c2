/** The steps that the pod itself tells: its times are those of the scheduler and of kubelet. */
import type { Pod } from '#shared/kube/types.ts';
import { done, type Step, type StepName, unknownStep, waits } from './timeline.ts';

const msOf = (time: string | undefined): number | undefined => (time ? Date.parse(time) : undefined);

export function podSteps(pod: Pod): readonly Step[] {
  const { metadata, spec, status } = pod;
  const ips = (status?.podIPs ?? []).map(({ ip }) => ip);
  return [
    ...(metadata.creationTimestamp
      ? [done('Created', 'it was created', msOf(metadata.creationTimestamp))]
      : []),
    conditionStep(pod, 'PodScheduled', {
      ...{
        step: 'Scheduled',
        yes: `it was scheduled to ${spec?.nodeName ?? 'a node'}`,
        no: 'it is not scheduled',
      },
    }),
    ips.length === 0
      ? waits('PodIP', 'it has no IP')
      : // The condition is young, and its name has changed: no wait is claimed without it.
        done('PodIP', `it got ${ips.join(' and ')}`, trueSince(pod, 'PodReadyToStartContainers')),
    conditionStep(pod, 'ContainersReady', {
      ...{ step: 'ContainersReady', yes: 'its containers were ready', no: 'its containers are not ready' },
    }),
    ...(spec?.readinessGates ?? []).map(({ conditionType }) =>
      conditionStep(pod, conditionType, {
        step: 'ReadinessGate',
        yes: `its readiness gate ${conditionType} was True`,
        no: `its readiness gate ${conditionType} is not True`,
        isAbsentWaiting: true,
      }),
    ),
    readyStep(pod),
  ];
}

/** All that the hub's snapshot has of a pod. */
export const readyStep = (pod: Pod): Step =>
  conditionStep(pod, 'Ready', {
    ...{ step: 'Ready', yes: 'it was Ready', no: 'it is not Ready', isAbsentWaiting: true },
  });

interface Words {
  readonly step: StepName;
  readonly yes: string;
  readonly no: string;
  readonly isAbsentWaiting?: boolean;
}

function conditionStep(pod: Pod, type: string, { step, yes, no, isAbsentWaiting = false }: Words): Step {
  const found = pod.status?.conditions?.find((c) => c.type === type);
  if (!found)
    return isAbsentWaiting ? waits(step, no) : unknownStep(step, `${type}: the pod has no such condition`);
  if (found.status === 'True') return done(step, yes, msOf(found.lastTransitionTime));
  const why = [found.reason, found.message].filter(Boolean).join(': ');
  const since = found.lastTransitionTime ? ` since ${found.lastTransitionTime}` : '';
  return waits(step, `${no}${since}${why ? ` (${why})` : ''}`);
}

function trueSince({ status }: Pod, type: string): number | undefined {
  const found = status?.conditions?.find((c) => c.type === type && c.status === 'True');
  return msOf(found?.lastTransitionTime);
}
