import { expect, it } from 'vitest';
import { podCause } from '#infra/cli/ask/answer/causes/pod-cause.ts';
import { encodeNotReady } from '#shared/kube/projection/not-ready.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { Pod } from '#shared/kube/types.ts';
import { podForAnswers } from '#shared/store/inputs/pod-for-answers.ts';

const podOf = (spec: object, status: object): Pod =>
  ({
    metadata: { name: 'p', namespace: 'ns', uid: 'u', labels: {} },
    spec: { nodeName: 'node-a', containers: [{ name: 'app', readinessProbe: {} }], ...spec },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: [{ type: 'Ready', status: 'False' }],
      ...status,
    },
  }) as Pod;
const app = (state: object) => ({
  containerStatuses: [{ name: 'app', ready: false, restartCount: 1, state }],
});
/** As the relay sends it and the hub stores it. */
const storedPod = (pod: Pod): Pod | undefined =>
  podForAnswers({
    ...{ namespace: 'ns', name: 'p', version: '1', unnotifiedLabels: undefined, deletedAtMs: 0 },
    projection: encodeProjection('Pod', pod),
    notReady: encodeNotReady(pod),
  });

it.each<[string, Pod, string]>([
  [
    'a crash',
    podOf({}, app({ waiting: { reason: 'CrashLoopBackOff' } })),
    'container app crashes (CrashLoopBackOff)',
  ],
  [
    'an image',
    podOf({}, app({ waiting: { reason: 'ImagePullBackOff' } })),
    'container app has no image (ImagePullBackOff)',
  ],
  [
    'a readiness probe',
    podOf({}, app({ running: {} })),
    'the readiness probe of container app fails, so it is not ready',
  ],
  [
    'a startup probe',
    podOf({ containers: [{ name: 'app', startupProbe: {} }] }, app({ running: {} })),
    'the startup probe of container app has not succeeded yet',
  ],
  [
    'an init container',
    podOf(
      { initContainers: [{ name: 'migrate' }] },
      {
        initContainerStatuses: [{ name: 'migrate', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
        ...app({ waiting: { reason: 'PodInitializing' } }),
      },
    ),
    'init container migrate crashes (CrashLoopBackOff)',
  ],
  [
    'a readiness gate',
    podOf({ readinessGates: [{ conditionType: 'lb' }] }, {}),
    'its containers are ready, and readiness gate lb has no condition yet',
  ],
  [
    'the scheduler',
    podOf(
      { nodeName: '' },
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes are available',
          },
        ],
      },
    ),
    'cannot be scheduled (Unschedulable): 0/3 nodes are available',
  ],
])('a pod of the snapshot has the cause that the cluster shows: %s', (_, pod, text) => {
  const around = { node: undefined, events: [] };
  expect(podCause(storedPod(pod) as Pod, around)?.text).toBe(text);
  expect(podCause(pod, around)?.code).toBe(podCause(storedPod(pod) as Pod, around)?.code);
});
