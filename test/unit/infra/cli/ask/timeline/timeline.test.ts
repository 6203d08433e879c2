/** The way of a pod to an endpoint: where its time went, and what it waits for. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { hubTimeline } from '#infra/cli/ask/timeline/hub-timeline.ts';
import { podSteps } from '#infra/cli/ask/timeline/pod-steps.ts';
import { servedStep } from '#infra/cli/ask/timeline/served-step.ts';
import { type Step, timelineLines, timelineOf } from '#infra/cli/ask/timeline/timeline.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { EndpointSlice, Pod } from '#shared/kube/types.ts';
import { aPod, aService, smallCluster } from '#test/support/small-cluster.ts';

const at = (seconds: number): string =>
  new Date(Date.UTC(2026, 0, 2, 0, 0, seconds)).toISOString().replace('.000', '');
const condition = (type: string, seconds: number, status = 'True', more: object = {}) => ({
  ...{ type, status, lastTransitionTime: at(seconds), ...more },
});
const pod = (conditions: readonly object[], spec: object = {}): Pod =>
  ({
    metadata: { name: 'web-0', namespace: 'shop', creationTimestamp: at(0) },
    spec: { nodeName: 'node-a', containers: [], ...spec },
    status: { podIPs: [{ ip: '10.1.0.7' }], conditions },
  }) as unknown as Pod;
const slice = (endpoint: object = {}, written = 40, trigger = 39): EndpointSlice =>
  ({
    addressType: 'IPv4',
    metadata: {
      name: 'web-x',
      labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': at(trigger) },
      managedFields: [
        { manager: 'kube-controller-manager', time: at(written), fieldsV1: { 'f:endpoints': {} } },
      ],
    },
    endpoints: [{ addresses: ['10.1.0.7'], targetRef: { kind: 'Pod', name: 'web-0' }, ...endpoint }],
  }) as unknown as EndpointSlice;

const gated = { readinessGates: [{ conditionType: 'lb/ready' }] };
const ready = [
  condition('PodScheduled', 1),
  condition('PodReadyToStartContainers', 3),
  condition('ContainersReady', 9),
  condition('lb/ready', 39),
  condition('Ready', 39),
];
const dataOf = (steps: readonly Step[]) =>
  timelineOf({ cluster: 'prod', namespace: 'shop', name: 'web' }, 'web-0', steps, []);

describe('from the cluster itself', () => {
  it('each step has its time, and the first line says where the time went', () => {
    const served = servedStep([slice()], 'web-0', Date.parse(at(39)));
    const lines = timelineLines(dataOf([...podSteps(pod(ready, gated)), served]));
    expect(lines.map((line) => (typeof line === 'string' ? line : line.text))).toEqual([
      'prod shop/web, pod web-0: 40 s in all, of which 30 s until its readiness gate lb/ready was True',
      '  2026-01-02T00:00:00.000Z            Created          it was created',
      '  2026-01-02T00:00:01.000Z  +1000 ms  Scheduled        it was scheduled to node-a',
      '  2026-01-02T00:00:03.000Z  +2000 ms  PodIP            it got 10.1.0.7',
      '  2026-01-02T00:00:09.000Z  +6000 ms  ContainersReady  its containers were ready',
      '  2026-01-02T00:00:39.000Z  +30 s     ReadinessGate    its readiness gate lb/ready was True',
      '  2026-01-02T00:00:39.000Z  +0 ms     Ready            it was Ready',
      '  2026-01-02T00:00:40.000Z  +1000 ms  Served           web-x of endpointslice-controller.k8s.io had it',
    ]);
  });

  it.each([
    [
      'a pod that fits on no node',
      pod([condition('PodScheduled', 1, 'False', { reason: 'Unschedulable', message: '0/3 nodes' })]),
      'it is not scheduled since 2026-01-02T00:00:01Z (Unschedulable: 0/3 nodes)',
    ],
    [
      'containers',
      pod([condition('PodScheduled', 1), condition('ContainersReady', 2, 'False')]),
      'its containers are not ready since 2026-01-02T00:00:02Z',
    ],
    [
      'a gate whose condition nobody has set',
      pod(
        [condition('PodScheduled', 1), condition('ContainersReady', 2), condition('Ready', 1, 'False')],
        gated,
      ),
      'its readiness gate lb/ready is not True',
    ],
    ['the slices', pod(ready, gated), 'no slice of the Service lists it'],
  ])('it says that a pod waits for %s', (_, given, what) => {
    const { message } = dataOf([...podSteps(given), servedStep([], 'web-0')]);
    expect(message).toBe(`it waits: ${what}`);
  });

  it('a later write of the slice, for another pod, is not taken for the write of this one', () => {
    const step = servedStep([slice({}, 90, 89)], 'web-0', Date.parse(at(39)));
    expect(step).toEqual({
      ...{ step: 'Served', state: 'done' },
      text: 'web-x of endpointslice-controller.k8s.io has it; a later write hides since when',
    });
    const notReady = { conditions: { ready: false } };
    expect(servedStep([slice(notReady)], 'web-0')).toMatchObject({
      ...{ state: 'waits', text: 'slices list it as not ready' },
    });
  });
});

describe('by a hub', () => {
  const key = { cluster: 'c', namespace: 'default', name: 'svc' };
  const readySince = (object: RawObject, ms: number): RawObject => {
    const { status, ...rest } = object as RawObject & { status: { conditions: readonly object[] } };
    const time = new Date(ms).toISOString().replace(/\.\d+Z/, 'Z');
    const conditions = status.conditions.map((c) => ({ ...c, lastTransitionTime: time }));
    return { ...rest, status: { ...status, conditions } } as unknown as RawObject;
  };

  it('seen, stored, run and written are those of the record that made it ready', async () => {
    const { world, pass } = await smallCluster([aService(), aPod(0, { ready: false })]);
    await pass(60);
    const since = world.now;
    world.store.apply(readySince(aPod(0), since));
    await pass(30);
    const of = await hubTimeline(world.table, key, 'pod-0', world.now);
    const steps = of.steps.map(({ step, state }) => `${step} ${state}`);
    expect(steps).toEqual([
      'Ready done',
      'Seen done',
      'Stored done',
      'Run done',
      'Written done',
      'Served done',
    ]);
    const times = of.steps.flatMap(({ time }) => (time ? Date.parse(time) : []));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Math.max(...times) - since).toBeLessThan(10_000);
    const validate = new Ajv2020({ formats: { 'date-time': true } }).compile(
      JSON.parse(readFileSync('docs/reference/schemas/timeline.schema.json', 'utf8')),
    );
    validate(of);
    expect(validate.errors).toBeNull();
    expect(of.remarks[0]).toContain('kubectl endpoints explain svc/svc -n default --timeline pod-0');
  });

  it('a pod that is not ready waits, and an unknown one is an error', async () => {
    const { world, pass } = await smallCluster([aService(), aPod(0, { ready: false })]);
    await pass(30);
    const of = await hubTimeline(world.table, key, 'pod-0', world.now);
    expect(of.message).toMatch(/^it waits: it is not Ready since /);
    await expect(hubTimeline(world.table, key, 'pod-9', world.now)).rejects.toThrow(
      /^no pod pod-9 in namespace default/,
    );
  });
});
