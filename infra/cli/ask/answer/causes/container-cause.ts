/** Why a container of a pod keeps it from being ready. */
import type { CoreEvent, Pod } from '#shared/kube/types.ts';
import { bad, type Cause } from '../cause.ts';
import { messageOf, newestEvent } from '../object-events.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Container = NonNullable<Pod['spec']>['containers'][number];

interface ContainerOfPod {
  readonly pod: Pod;
  readonly events: readonly CoreEvent[];
  readonly container: ContainerStatus;
  readonly declared: Container | undefined;
}

/** Returns the first container that holds the pod up, in the order that kubelet starts them. */
export function containerCause(pod: Pod, events: readonly CoreEvent[]): Cause | undefined {
  const { status = {}, spec } = pod;
  const init = (status.initContainerStatuses ?? []).flatMap((container) => {
    const declared = spec?.initContainers?.find((c) => c.name === container.name);
    const cause = initCause({ pod, events, container, declared });
    return cause ? [cause] : [];
  });
  if (init[0]) return init[0];
  const causes = (status.containerStatuses ?? []).flatMap((container) => {
    const declared = spec?.containers.find((c) => c.name === container.name);
    return container.ready ? [] : [ofContainer({ pod, events, container, declared }, 'container')];
  });
  if (causes.length > 0) return joined(causes);
  return sandboxCause(pod, events);
}

/** Containers that fail alike are told together. */
function joined(causes: readonly Cause[]): Cause {
  const [first] = causes as readonly [Cause, ...Cause[]];
  return { ...first, text: [...new Set(causes.map((c) => c.text))].join('; ') };
}

function initCause(of: ContainerOfPod): Cause | undefined {
  const { pod, container, declared } = of;
  if (declared?.restartPolicy === 'Always') {
    if (container.ready) return undefined;
    return ofContainer(of, 'sidecar container');
  }
  const { state = {}, name } = container;
  if (state.terminated?.exitCode === 0) return undefined;
  if (state.running)
    return bad(
      'InitContainer',
      `init container ${name} has not ended: it runs since ${String(state.running.startedAt ?? 'its start')}`,
      logsOf(pod, name),
    );
  // Init containers run one after the other: a later one waits for this one.
  if (state.waiting?.reason === 'PodInitializing' || !(state.waiting || state.terminated)) return undefined;
  return { ...ofContainer(of, 'init container'), code: 'InitContainer' };
}

function ofContainer(of: ContainerOfPod, kind: string): Cause {
  const { pod, events, container, declared } = of;
  const { name, state = {}, started } = container;
  const what = `${kind} ${name}`;
  if (state.waiting) return waiting(of, what);
  if (state.terminated) {
    const { exitCode, reason, message } = state.terminated;
    const why = [reason, message].filter(Boolean).join(': ');
    return bad(
      'ContainerEnded',
      `${what} has ended with exit code ${exitCode}${why ? ` (${why})` : ''}`,
      logsOf(pod, name),
    );
  }
  const unhealthy = (probe: string): string => {
    const event = events
      .filter((e) => e.reason === 'Unhealthy' && e.message?.startsWith(probe))
      .filter((e) => !e.involvedObject.fieldPath || e.involvedObject.fieldPath.includes(`{${name}}`));
    const newest = newestEvent(event, 'Unhealthy');
    return newest ? `: ${messageOf(newest)}` : '';
  };
  if (declared?.startupProbe && started !== true)
    return bad(
      'StartupProbe',
      `the startup probe of ${what} has not succeeded yet${unhealthy('Startup')}`,
      logsOf(pod, name),
    );
  const told = unhealthy('Readiness');
  if (declared?.readinessProbe || told)
    return bad(
      'ReadinessProbe',
      `the readiness probe of ${what} fails, so it is not ready${told}`,
      `${probeText(declared)}${logsOf(pod, name)}`,
    );
  return bad('NotReady', `${what} runs and is not ready`, logsOf(pod, name));
}

function probeText(declared: Container | undefined): string {
  const { httpGet, tcpSocket, grpc, exec } = declared?.readinessProbe ?? {};
  if (httpGet) return `it asks ${httpGet.path ?? '/'} on port ${httpGet.port}: `;
  if (tcpSocket) return `it connects to port ${tcpSocket.port}: `;
  if (grpc) return `it asks gRPC on port ${grpc.port}: `;
  return exec ? `it runs ${(exec.command ?? []).join(' ').slice(0, 80)}: ` : '';
}

function waiting({ pod, events, container }: ContainerOfPod, what: string): Cause {
  const { name, state, image } = container;
  const { reason = 'unknown', message } = state?.waiting ?? {};
  const { namespace, name: podName } = pod.metadata;
  const describe = `kubectl describe pod -n ${namespace} ${podName}`;
  const told = message ? `: ${messageOf({ message })}` : '';
  if (reason === 'CrashLoopBackOff')
    return bad(
      'ContainerWaiting',
      `${what} crashes (CrashLoopBackOff${crashesOf(container)})`,
      `${logsOf(pod, name)} --previous`,
    );
  if (/Image/.test(reason))
    return bad(
      'ContainerWaiting',
      `${what} has no image (${reason})${image ? `: ${image}` : ''}${told}`,
      describe,
    );
  if (reason === 'ContainerCreating' || reason === 'PodInitializing') {
    const event = newestEvent(events, 'FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox');
    const why = event ? `: ${event.reason}, ${messageOf(event)}` : told;
    return bad('ContainerWaiting', `${what} waits (${reason})${why}`, describe);
  }
  return bad('ContainerWaiting', `${what} waits (${reason})${told}`, describe);
}

/** The hub's snapshot has neither the number of restarts nor the last end. */
function crashesOf({ restartCount, lastState }: Partial<ContainerStatus>): string {
  const last = lastState?.terminated;
  const restarts = restartCount === undefined ? '' : `, ${restartCount} restarts`;
  const reason = last?.reason && last.reason !== 'Error' ? ` (${last.reason})` : '';
  return `${restarts}${last ? `, last exit code ${last.exitCode}${reason}` : ''}`;
}

/** Kubelet lists no containers before it has begun with the pod. */
function sandboxCause(pod: Pod, events: readonly CoreEvent[]): Cause | undefined {
  if (pod.status?.podIP || pod.status?.podIPs?.length) return undefined;
  const event = newestEvent(events, 'FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume');
  if (!event) return undefined;
  const { namespace, name } = pod.metadata;
  return bad(
    'NoPodIP',
    `it has no IP address yet: ${event.reason}, ${messageOf(event)}`,
    `kubectl describe pod -n ${namespace} ${name}`,
  );
}

const logsOf = ({ metadata: { namespace, name } }: Pod, container: string): string =>
  `kubectl logs -n ${namespace} ${name} -c ${container}`;
