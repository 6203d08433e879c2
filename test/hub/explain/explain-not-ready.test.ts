/** `explain` names what holds up a pod that is not ready, and no run depends on it. */
import { expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, smallCluster } from '#test/support/small-cluster.ts';

const createdAt = '2026-01-01T00:00:00Z';
const unready = (spec: object, status: object): RawObject => {
  const pod = aPod(0, { ready: false }) as unknown as { readonly spec: object; readonly status: object };
  return {
    ...pod,
    spec: { ...pod.spec, ...spec },
    status: { ...pod.status, ...status },
  } as unknown as RawObject;
};
const condition = {
  ...{ type: 'Ready', status: 'False', lastTransitionTime: createdAt },
  ...{ reason: 'ContainersNotReady', message: 'containers with unready status: [app]' },
};
const container = (state: object) => ({ name: 'app', ready: false, restartCount: 7, state });

it.each<[string, object, object, string]>([
  [
    'a container that crashes',
    {},
    { containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } })] },
    'container app waits: CrashLoopBackOff',
  ],
  [
    'a readiness gate',
    { readinessGates: [{ conditionType: 'target-health.elbv2.k8s.aws/web' }] },
    {},
    'readiness gate target-health.elbv2.k8s.aws/web has no condition',
  ],
  ['no container of its own', {}, {}, 'ContainersNotReady: containers with unready status: [app]'],
])('explain names %s', async (_, spec, status, why) => {
  const pod = unready(spec, { conditions: [condition], ...status });
  const { world, calls, pass } = await smallCluster([aService(), pod]);
  await pass(5);
  const of = async () => {
    const { pods } = await explain(world.table, { cluster, namespace: 'default', name: 'svc' }, world.now);
    return pods[0]?.endpoints.why;
  };
  expect(await of()).toBe(`its Ready condition is False since ${createdAt}; ${why}`);

  calls.length = 0;
  const wakeUps = world.metrics.get('WakeUps');
  const waiting = container({ waiting: { reason: 'ImagePullBackOff' } });
  world.store.apply(unready({}, { conditions: [condition], containerStatuses: [waiting] }));
  await pass(60);
  expect(await of()).toContain('container app waits: ImagePullBackOff');
  expect(calls).toEqual([]);
  expect(world.metrics.get('WakeUps')).toBe(wakeUps);
});
