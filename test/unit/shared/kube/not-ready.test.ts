import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeNotReady, maxNotReadyBytes, withNotReady } from '#shared/kube/projection/not-ready.ts';
import { decodeProjection, encodeProjection, project } from '#shared/kube/projection/projection.ts';
import type { Pod } from '#shared/kube/types.ts';

interface Given {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}
const unready = { type: 'Ready', status: 'False', reason: 'ContainersNotReady' };
const podOf = ({ spec = {}, status = {}, metadata = {} }: Given): Pod =>
  ({
    metadata: { name: 'p', namespace: 'ns', uid: 'u', labels: {}, ...metadata },
    spec: { containers: [{ name: 'app' }], ...spec },
    status: { phase: 'Running', podIP: '10.0.0.1', conditions: [unready], ...status },
  }) as Pod;
const container = (state: object, more: object = {}) => ({
  ...{ name: 'app', ready: false, restartCount: 0, state, image: 'secret/image', imageID: 'x' },
  ...more,
});
const ended = (more: object = {}) => ({
  terminated: {
    ...{ exitCode: 1, reason: 'Error', message: 'secret', startedAt: '2026-01-01T00:00:00Z' },
    ...{ finishedAt: '2026-01-01T00:00:05Z', ...more },
  },
});
/** As explain reads it. */
const stored = (pod: Pod): Pod =>
  withNotReady(decodeProjection('Pod', 'ns', 'p', encodeProjection('Pod', pod)), encodeNotReady(pod));

describe('the not-ready text', () => {
  it.each<[string, Given]>([
    ['is ready', { status: { conditions: [{ type: 'Ready', status: 'True' }], reason: 'x' } }],
    ['is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['has nothing to tell', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }],
  ])('a pod that %s has none', (_, given) => {
    expect(encodeNotReady(podOf(given))).toBeUndefined();
  });

  it('a pod is told as kubelet and the scheduler show it', () => {
    const pod = podOf({
      spec: {
        readinessGates: [{ conditionType: 'lb' }, { conditionType: 'set' }, { conditionType: 'fine' }],
        initContainers: [{ name: 'done' }, { name: 'migrate' }, { name: 'later' }],
        containers: [
          ...[{ name: 'app' }, { name: 'slow', startupProbe: {}, readinessProbe: {} }],
          ...[{ name: 'probed', readinessProbe: { httpGet: { path: '/secret' } } }, { name: 'good' }],
        ],
      },
      status: {
        reason: 'NodeLost',
        conditions: [
          ...[{ ...unready, message: 'containers with unready status: [app]' }],
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' },
          ...[
            { type: 'set', status: 'False', message: 'secret' },
            { type: 'fine', status: 'True' },
          ],
        ],
        initContainerStatuses: [
          container(ended({ exitCode: 0 }), { name: 'done' }),
          container({ waiting: { reason: 'CrashLoopBackOff', message: 'secret' } }, { name: 'migrate' }),
          container({ waiting: { reason: 'PodInitializing' } }, { name: 'later' }),
        ],
        containerStatuses: [
          container({ waiting: { reason: 'ImagePullBackOff', message: 'secret' } }),
          container({ running: {} }, { name: 'slow', started: false }),
          container({ running: {} }, { name: 'probed', started: true }),
          container({ running: {} }, { name: 'good', ready: true }),
        ],
      },
    });
    expect(encodeNotReady(pod)).not.toContain('secret');
    expect(stored(pod)).toMatchObject({
      spec: {
        readinessGates: [{ conditionType: 'lb' }, { conditionType: 'set' }],
        initContainers: [{ name: 'migrate' }],
        containers: [
          { name: 'app' },
          { name: 'slow', startupProbe: {} },
          { name: 'probed', readinessProbe: {} },
        ],
      },
      status: {
        reason: 'NodeLost',
        conditions: [
          { type: 'Ready', reason: 'ContainersNotReady', message: 'containers with unready status: [app]' },
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' },
          { type: 'set', status: 'False' },
        ],
        initContainerStatuses: [{ name: 'migrate', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
        containerStatuses: [
          { name: 'app', ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } },
          { name: 'slow', started: false, state: { running: {} } },
          { name: 'probed', state: { running: {} } },
        ],
      },
    });
  });

  it.each<[string, object, object, object]>([
    ['that crashes again', {}, ended(), { waiting: { reason: 'CrashLoopBackOff' } }],
    ['that ran for long', {}, ended({ finishedAt: '2026-01-01T01:00:00Z' }), ended()],
    ['that is not restarted', { restartPolicy: 'Never' }, ended(), ended()],
    [
      'that has completed',
      { restartPolicy: 'OnFailure' },
      ended({ exitCode: 0, reason: 'Completed' }),
      {
        terminated: { exitCode: 0, reason: 'Completed' },
      },
    ],
  ])('a container %s is told as kubelet will show it', (_, spec, state, shown) => {
    const pod = podOf({ spec, status: { containerStatuses: [container(state, { restartCount: 3 })] } });
    const told = (stored(pod).status?.containerStatuses?.[0]?.state ?? {}) as {
      readonly terminated?: { readonly message?: string };
    };
    const { terminated, ...others } = shown as { readonly terminated?: { exitCode: number; reason: string } };
    expect(told).toEqual(
      terminated ? { terminated: { exitCode: terminated.exitCode, reason: terminated.reason } } : others,
    );
  });

  it('a sidecar that is not ready holds the containers up, and one that is does not', () => {
    const given = (ready: boolean) =>
      podOf({
        spec: { initContainers: [{ name: 'proxy', restartPolicy: 'Always', readinessProbe: {} }] },
        status: { initContainerStatuses: [container({ running: {} }, { name: 'proxy', ready })] },
      });
    expect(stored(given(true)).spec?.initContainers).toBeUndefined();
    expect(stored(given(false)).spec?.initContainers).toEqual([
      { name: 'proxy', restartPolicy: 'Always', readinessProbe: {} },
    ]);
  });

  it('a message is cut at 160 bytes, and has no control characters', () => {
    const of = (message: string) =>
      stored(podOf({ status: { conditions: [{ ...unready, message }] } })).status?.conditions?.[0]?.message;
    expect(of(`a${'語'.repeat(60)}`)).toBe(`a${'語'.repeat(52)}…`);
    expect(of('語'.repeat(53))).toBe('語'.repeat(53));
    expect(of('\u001b[31mred\nnext')).toBe(' [31mred next');
  });

  it('the text of any pod has its bound, and changes nothing that a decision reads', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    const condition = fc.record({
      type: fc.oneof(fc.constantFrom('Ready', 'PodScheduled'), text),
      status: fc.constantFrom('False', 'Unknown'),
      reason: text,
      message: text,
    });
    const state = fc.oneof(
      fc.record({ waiting: fc.record({ reason: text }) }),
      fc.record({ terminated: fc.record({ reason: text, exitCode: fc.nat(255) }) }),
      fc.constant({ running: {} }),
    );
    const statuses = fc.array(
      fc.record({ name: text, ready: fc.boolean(), restartCount: fc.nat(2), state }),
      {
        maxLength: 20,
      },
    );
    const gates = fc.array(
      text.map((conditionType) => ({ conditionType })),
      { maxLength: 20 },
    );
    const anyPod = fc
      .tuple(fc.array(condition), statuses, statuses, gates)
      .map(([conditions, containerStatuses, initContainerStatuses, readinessGates]) =>
        podOf({ spec: { readinessGates }, status: { conditions, containerStatuses, initContainerStatuses } }),
      );
    fc.assert(
      fc.property(anyPod, (pod) => {
        expect(Buffer.byteLength(encodeNotReady(pod) ?? '')).toBeLessThanOrEqual(maxNotReadyBytes);
        expect(project('Pod', stored(pod))).toEqual(project('Pod', pod));
      }),
    );
  });

  it.each([
    '',
    '[]',
    'null',
    '5',
    '{"c":["x"]}',
    '{"c":[5]}',
    '{"r":"x"}',
    '{"r":[5]}',
    '{"g":[null]}',
    '{"i":{}}',
  ])('text that no relay made changes nothing: %s', (text) => {
    const pod = podOf({});
    expect(withNotReady(pod, text)).toEqual(pod);
  });
});
