/** What holds a pod up, in words: as kubelet and the scheduler say, where the pod has it. */
import { readyCondition } from '#shared/kube/pods.ts';
import type { Pod } from '#shared/kube/types.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Containers = NonNullable<Pod['spec']>['containers'];

/** Returns clauses. Empty if nothing is known. */
export function notReadyDetails(pod: Pod): readonly string[] {
  const { spec, status = {} } = pod;
  const scheduled = status.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False');
  if (scheduled) return [`it is not scheduled: ${told(scheduled)}`];
  const init = status.initContainerStatuses ?? [];
  const containers = (status.containerStatuses ?? []).filter((c) => !c.ready);
  const gates = (spec?.readinessGates ?? []).flatMap(({ conditionType: type }) => {
    const condition = status.conditions?.find((c) => c.type === type);
    if (condition?.status === 'True') return [];
    return [`readiness gate ${type} ${condition ? `is ${condition.status}` : 'has no condition'}`];
  });
  const found = [
    ...init.map((c) => ofContainer(c, 'init container', spec?.initContainers)),
    ...containers.map((c) => ofContainer(c, 'container', spec?.containers)),
    ...gates,
  ];
  const ready = readyCondition(pod);
  return found.length > 0 || !(ready?.reason || ready?.message) ? found : [told(ready)];
}

const told = ({ reason, message }: { reason?: string; message?: string }): string =>
  [reason, message].filter(Boolean).join(': ');

function ofContainer({ name, state = {} }: ContainerStatus, kind: string, declared?: Containers): string {
  const { waiting, terminated } = state;
  if (waiting) return `${kind} ${name} waits: ${waiting.reason ?? 'no reason is given'}`;
  if (terminated) return `${kind} ${name} has ended: ${terminated.reason}, exit code ${terminated.exitCode}`;
  const { startupProbe, readinessProbe } = declared?.find((c) => c.name === name) ?? {};
  if (startupProbe) return `the startup probe of ${kind} ${name} has not succeeded`;
  return readinessProbe ? `the readiness probe of ${kind} ${name} fails` : `${kind} ${name} is not ready`;
}
