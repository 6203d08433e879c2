/**
 * Why a pod is not ready, from what kubelet, scheduler and node controller say about it. A pod of the hub's
 * snapshot has the part of it that its relay sends (shared/store/inputs/pod-for-answers.ts).
 */
import { deletionRequestedAt } from '#shared/controllers/verdicts/pod-verdicts.ts';
import { isNodeReady } from '#shared/kube/nodes.ts';
import { isPodReady, isPodTerminal, readyCondition } from '#shared/kube/pods.ts';
import type { CoreEvent, Node, Pod } from '#shared/kube/types.ts';
import { bad, type Cause, note, warning } from '../cause.ts';
import { newestEvent } from '../object-events.ts';
import { containerCause } from './container-cause.ts';

export interface PodSurroundings {
  /** Undefined: not read, or there is none. */
  readonly node: Node | undefined;
  /** Events about the pod. */
  readonly events: readonly CoreEvent[];
}

/** Returns undefined for a pod that is ready and stays. */
export function podCause(pod: Pod, around: PodSurroundings): Cause | undefined {
  if (isPodTerminal(pod)) return ended(pod);
  if (pod.metadata.deletionTimestamp) return terminating(pod, around);
  if (isPodReady(pod)) return undefined;
  return (
    unscheduled(pod, around) ??
    nodeCause(around.node, pod) ??
    containerCause(pod, around.events) ??
    gateCause(pod) ??
    readyConditionCause(pod)
  );
}

function ended({ metadata, status = {} }: Pod): Cause {
  const { phase, reason, message } = status;
  const disruption = status.conditions?.find((c) => c.type === 'DisruptionTarget' && c.status === 'True');
  const why = [reason ?? disruption?.reason, message ?? disruption?.message].filter(Boolean).join(': ');
  const owner = metadata.ownerReferences?.[0];
  if (reason === 'Evicted' || disruption)
    return warning(
      'PodEnded',
      `evicted from its node (phase ${phase}${why ? `, ${why}` : ''})`,
      owner ? undefined : 'nothing replaces it: it has no controller',
    );
  const job = owner?.kind === 'Job' ? `: it is a pod of Job ${owner.name}` : '';
  return phase === 'Succeeded'
    ? note('PodEnded', `completed, phase Succeeded${job}; a pod that has run to its end is no endpoint`)
    : warning(
        'PodEnded',
        `phase Failed${why ? ` (${why})` : ''}${job}; it has run to its end and is no endpoint`,
        `kubectl describe pod -n ${metadata.namespace} ${metadata.name}`,
      );
}

function terminating(pod: Pod, { node }: PodSurroundings): Cause {
  const { metadata } = pod;
  const finalizers = metadata.finalizers ?? [];
  const since = `terminating (being deleted since ${deletionRequestedAt(pod)})`;
  if (finalizers.length > 0)
    return warning(
      'PodTerminating',
      `${since}; finalizer ${finalizers.join(', ')} holds it`,
      `the controller of ${finalizers[0]} has to remove it`,
    );
  if (node && !isNodeReady(node))
    return warning(
      'PodTerminating',
      `${since}; node ${node.metadata.name} is not ready, so no kubelet confirms its end`,
      `kubectl delete pod -n ${metadata.namespace} ${metadata.name} --force, if the node is gone`,
    );
  return note('PodTerminating', since);
}

function unscheduled(pod: Pod, { events }: PodSurroundings): Cause | undefined {
  if (pod.spec?.nodeName) return undefined;
  const condition = pod.status?.conditions?.find((c) => c.type === 'PodScheduled');
  const gates = (pod.spec?.schedulingGates ?? []).map((g) => g.name);
  if (gates.length > 0)
    return bad('Unschedulable', `not scheduled: scheduling gate ${gates.join(', ')} holds it`);
  const why = condition?.message ?? newestEvent(events, 'FailedScheduling')?.message;
  return bad(
    'Unschedulable',
    why
      ? `cannot be scheduled (${condition?.reason ?? 'FailedScheduling'}): ${why}`
      : 'on no node yet: the scheduler has not placed it',
    `kubectl describe pod -n ${pod.metadata.namespace} ${pod.metadata.name}`,
  );
}

/** Kubelet alone sets the readiness of a pod, and the node controller if kubelet is silent. */
function nodeCause(node: Node | undefined, pod: Pod): Cause | undefined {
  if (!node || isNodeReady(node)) return undefined;
  const { name } = node.metadata;
  const ready = node.status?.conditions?.find((c) => c.type === 'Ready');
  const state =
    ready?.status === 'False' ? 'is NotReady' : 'does not report (NotReady: its Ready condition is Unknown)';
  const why = ready?.message || ready?.reason;
  const since = ready?.lastTransitionTime ? ` since ${String(ready.lastTransitionTime)}` : '';
  return bad(
    'NodeNotReady',
    `node ${name} ${state}${since}${why ? `: ${why}` : ''}`,
    `kubectl describe node ${name}${pod.metadata.ownerReferences ? '' : '; nothing replaces the pod elsewhere'}`,
  );
}

function gateCause(pod: Pod): Cause | undefined {
  const conditions = pod.status?.conditions ?? [];
  const failing = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = conditions.find((c) => c.type === conditionType);
    if (condition?.status === 'True') return [];
    const why = condition?.message || condition?.reason;
    return [
      condition
        ? `${conditionType} is ${condition.status}${why ? ` (${why})` : ''}`
        : `${conditionType} has no condition yet`,
    ];
  });
  if (failing.length === 0) return undefined;
  return bad(
    'ReadinessGate',
    `its containers are ready, and readiness gate ${failing.join(', ')}`,
    'the controller that owns the gate sets it: look at its logs',
  );
}

function readyConditionCause(pod: Pod): Cause {
  const { namespace, name } = pod.metadata;
  const ready = readyCondition(pod);
  const next = `kubectl describe pod -n ${namespace} ${name}`;
  if (!ready) return bad('NotReady', 'it has no Ready condition: no kubelet has reported it yet', next);
  const why = [ready.reason, ready.message].filter(Boolean).join(': ');
  return bad('NotReady', `its Ready condition is ${ready.status}${why ? ` (${why})` : ''}`, next);
}
