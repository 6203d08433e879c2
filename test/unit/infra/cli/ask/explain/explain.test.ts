import { describe, expect, it } from 'vitest';
import { explainService } from '#infra/cli/ask/explain/explain.ts';
import type { Pod } from '#shared/kube/types.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { idlePart, noWork } from '#test/support/absent-records.ts';
import { endpoint, node, nodes, pod, service, slice } from '#test/unit/shared/controllers/slices/fixtures.ts';
import { clusterRecord, explainPod, factsOf, input, now, onlyPod } from './fixtures.ts';

const since = '2026-02-28T09:00:00Z';
const nothing = { endpoints: undefined, slices: [] };
const withReady = (status: string): Pod => {
  const p = pod(1);
  return {
    ...p,
    status: { ...p.status, conditions: [{ type: 'Ready', status, lastTransitionTime: since }] },
  };
};

it('a run that ended in the future by another clock is shown as now', () => {
  const facts = factsOf(
    explainService(input({ work: { ...noWork, generation: 1, ranAtMs: now + 400 } })),
    'Work',
  );
  expect(facts['Last run']).toBe('2026-03-01T10:00:00Z (0 s ago)');
});

it.each([
  [
    'shadow',
    'v1.31.4',
    'v1.31.4, compared as v1.31 does: no named target port of a restartable init container in Endpoints, no named target port of a restartable init container in slices, no label',
  ],
  ['active', 'v1.31.4', 'v1.31.4'],
  ['shadow', 'v1.30.14', 'Kubernetes v1.30.14 is older than v1.31, the oldest that is tested'],
] as const)(
  'in mode %s the version %s is shown with what shadow mode does not count',
  (mode, kubernetesVersion, expected) => {
    const cluster = clusterRecord({ mode, relay: { ...clusterRecord().relay, kubernetesVersion } });
    expect(factsOf(explainService(input({ cluster })), 'Cluster')['Kubernetes']).toMatch(
      new RegExp(`^${expected}`),
    );
  },
);

describe('why a pod is no address', () => {
  it.each<[string, Pod, string, string]>([
    [
      'has ended',
      pod(1, { phase: 'Succeeded' }),
      'phase Succeeded: it has run to its end',
      'phase Succeeded: it has run to its end',
    ],
    ['has no IP', pod(1, { ips: [] }), 'it has no IP address yet', 'it has no IP address yet'],
    [
      'is on an unknown node',
      pod(1, { node: 'n-3' }),
      'its Ready condition is True',
      'node n-3 is unknown: left out of slices until the relay sends it',
    ],
    [
      'has the other family only',
      pod(1, { ips: ['fd00::1'] }),
      'no IPv4 address, and Endpoints have one family only',
      'no IPv4 address',
    ],
    [
      'ends',
      pod(1, { deleted: true }),
      'terminating since 2024-01-01T00:01:00Z',
      'terminating since 2024-01-01T00:01:00Z, still serving',
    ],
    [
      'is not ready',
      withReady('False'),
      `its Ready condition is False since ${since}`,
      `its Ready condition is False since ${since}`,
    ],
  ])('a pod is no address that %s', (_, p, inEndpoints, inSlices) => {
    const { endpoints, slices } = explainPod(p);
    expect([endpoints.why, slices[0]?.why]).toEqual([inEndpoints, inSlices]);
  });

  it('a pod terminates since it was asked to, and not since the end of its grace period', () => {
    const deleted = pod(1, { deleted: true });
    const { endpoints, slices } = explainPod({
      ...deleted,
      metadata: { ...deleted.metadata, deletionGracePeriodSeconds: 3600 },
    });
    expect([endpoints.why, slices[0]?.why]).toEqual([
      'terminating since 2023-12-31T23:01:00Z',
      'terminating since 2023-12-31T23:01:00Z, still serving',
    ]);
  });

  it('a pod is no address whose container has no port of that name', () => {
    const { endpoints, slices } = explainPod(
      pod(1),
      service({ ports: [{ port: 80, targetPort: 'http', protocol: 'TCP' }] }),
    );
    expect(endpoints).toEqual({
      place: 'absent',
      reason: 'NoMatchingPort',
      why: 'left out of Endpoints: no container port named http/TCP',
      addresses: [],
    });
    expect(slices[0]).toMatchObject({
      place: 'ready',
      why: 'its Ready condition is True; listed without ports: no container port named http/TCP',
    });
  });

  it('a pod is no address whose labels match the selector in part', () => {
    const p = pod(1);
    const other = { ...p, metadata: { ...p.metadata, labels: { app: 'a', tier: 'api' } } };
    const { relation, endpoints } = explainPod(other, service({ selector: { app: 'a', tier: 'web' } }), {
      saved: nothing,
    });
    expect([relation, endpoints.why]).toEqual(['near', 'selector tier=web does not match label tier=api']);
    const stranger = { ...p, metadata: { ...p.metadata, labels: { x: 'y' } } };
    expect(explainService(input({ pods: [stranger], saved: nothing })).pods).toEqual([]);
    const asked = onlyPod(
      explainService(input({ pods: [stranger], saved: nothing, asked: p.metadata.name })),
    );
    expect(asked.endpoints.why).toBe('selector app=a: the pod has no label app');
  });

  it('a pod is no address that was selected, or is gone and still listed', () => {
    const p = pod(1);
    const moved = {
      name: p.metadata.name,
      pod: { ...p, metadata: { ...p.metadata, labels: { app: 'b' } } },
      formerLabels: [{ app: 'a' }],
    };
    const explanation = explainService({
      ...input({ saved: { endpoints: undefined, slices: [slice('foo-1', [endpoint(1), endpoint(2)])] } }),
      pods: [moved],
    });
    expect(
      explanation.pods.map(({ pod, relation, slices }) => [
        pod,
        relation,
        slices[0]?.why,
        slices[0]?.pending,
      ]),
    ).toEqual([
      [
        'pod0001',
        'left',
        'selector app=a does not match label app=b; its labels matched before',
        'as saved it is still listed (ready)',
      ],
      ['pod0002', 'left', 'the pod is gone', 'as saved it is still listed (ready)'],
    ]);
  });
});

describe('the saved state', () => {
  const wrongly = {
    endpoints: undefined,
    slices: [
      slice('foo-1', [endpoint(1, { conditions: { ready: false, serving: false, terminating: false } })]),
    ],
  };

  it('the saved state is shown if it differs from the wanted state', () => {
    const { endpoints, slices } = explainPod(pod(1), service(), { saved: wrongly });
    expect([endpoints.pending, slices[0]?.pending]).toEqual([
      'as saved it is not listed yet',
      'as saved it is still listed (not ready)',
    ]);
    const shadow = explainPod(pod(1), service(), {
      saved: wrongly,
      cluster: clusterRecord({ mode: 'shadow' }),
    });
    expect(shadow.slices[0]?.pending).toBe('listed (not ready) by the cluster’s own controller');
  });

  it('the saved state is not compared for a controller that is switched off', () => {
    const off = clusterRecord({
      settings: {
        batchPeriodSeconds: 0,
        maxEndpointsPerSlice: 100,
        controllers: ['slices'],
        optInCleanup: true,
        zonalShift: 'follow',
        historyDays: 7,
      },
    });
    const explanation = explainService(
      input({ saved: wrongly, cluster: off, work: { ...noWork, generation: 1 } }),
    );
    expect(onlyPod(explanation).endpoints.pending).toBeUndefined();
    expect(factsOf(explanation, 'Work')['Endpoints']).toBe('switched off for this cluster');
  });

  it('the saved state is listed by address', () => {
    expect(explainService(input({ saved: wrongly })).saved).toEqual([
      {
        object: 'IPv4 slice foo-1',
        address: '10.1.0.2',
        pod: 'pod0001',
        node: 'node-1',
        zone: '',
        state: 'not ready, node node-1',
        ports: 'http 80/TCP',
      },
    ]);
  });
});

describe('the summary', () => {
  const done = {
    ...noWork,
    generation: 3,
    parts: { endpoints: { ...idlePart, doneGeneration: 3 }, slices: { ...idlePart, doneGeneration: 3 } },
  };

  it.each([
    [
      'everything is written',
      input({ work: done }),
      'Reachable: 1 of 1 pod can be reached; everything is written.',
    ],
    [
      'a run is pending',
      input({ work: { ...done, generation: 4 } }),
      'Reachable: 1 of 1 pod can be reached; a run is pending.',
    ],
    [
      'tries failed',
      input({
        work: {
          ...done,
          generation: 4,
          parts: { ...done.parts, endpoints: { ...partState(done, 'endpoints'), failures: 2 } },
        },
      }),
      'Reachable: 1 of 1 pod can be reached; a run is pending after 2 failed tries.',
    ],
    [
      'the circuit is open',
      input({
        work: { ...done, generation: 4 },
        cluster: clusterRecord({ circuit: { reason: 'unreachable', untilMs: now + 5_000, failures: 1 } }),
      }),
      'Reachable: 1 of 1 pod can be reached; a run is pending, but the circuit of the cluster is open (unreachable).',
    ],
    [
      'somebody else writes too',
      input({ work: done, cluster: clusterRecord({ writerConflict: true }) }),
      'Reachable: 1 of 1 pod can be reached; nothing is written: the Service has a selector, and another writer keeps writing our objects: the hub has stopped until the mode is switched.',
    ],
    [
      'the cluster is paused',
      input({ work: done, cluster: clusterRecord({ mode: 'paused' }) }),
      'Reachable: 1 of 1 pod can be reached; nothing is written: the Service has a selector, and the cluster is paused.',
    ],
    [
      'nothing is selected',
      input({ work: done, pods: [], saved: nothing }),
      'Unreachable: it selects no pod; everything is written.',
    ],
    [
      'nothing is saved before the run that reads from the API server',
      input({ work: { ...done, generation: 4, apiReadGeneration: 4 }, saved: nothing }),
      'Whether it can be reached is not known here: the hub has not read its slices yet; a run is pending.',
    ],
    [
      'there is no selector',
      input({ service: service({ selector: undefined }), saved: nothing }),
      'Whether it can be reached is not known here: the hub does not read the slices of other controllers; no selector and no annotation: its endpoints are made by hand or by another controller.',
    ],
    [
      'the service is gone',
      input({ service: undefined, pods: [], saved: nothing }),
      'The service does not exist.',
    ],
  ])('the summary reports that %s', (_, world, summary) => {
    expect(explainService(world).summary).toBe(summary);
  });

  it('the summary has the comparison with a shadow cluster’s own controllers', () => {
    const shadow = input({ work: done, cluster: clusterRecord({ mode: 'shadow' }) });
    expect(explainService(shadow).summary).toMatch(/the cluster’s own controllers wrote the same\.$/);
    const differing = explainService({
      ...shadow,
      difference: { text: '["Endpoints: missing"]', sinceMs: now - 60_000, confirmed: true },
    });
    expect(differing.summary).toMatch(/wrote something different\.$/);
    expect([differing.differences, factsOf(differing, 'Work')['Difference']]).toEqual([
      ['Endpoints: missing'],
      'confirmed, since 2026-03-01T09:59:00Z (60 s ago)',
    ]);
  });
});

it('the facts have the state of work, service and cluster', () => {
  const endpoints = {
    doneGeneration: 4,
    failures: 2,
    retryNumber: 3,
    retryGeneration: 5,
    retryDueMs: now + 4_000,
  };
  const parts = { endpoints, slices: { ...idlePart, doneGeneration: 5 } };
  const lease = { id: 'l', untilMs: now + 30_000 };
  const work = {
    ...noWork,
    generation: 5,
    apiReadGeneration: 5,
    dirtyAtMs: now - 90_000,
    ranAtMs: now - 60_000,
    lease,
    parts,
  };
  const triggers = {
    endpoints: { service: now - 400_000, pods: new Map([['pod0001', now - 5_000]]) },
    slices: undefined,
  };
  const explanation = explainService(input({ work, triggers, nodes: nodes(node('node-1', 'a')) }));
  expect(factsOf(explanation, 'Work')).toEqual({
    Generation: '5',
    Endpoints:
      'pending: generation 4 of 5 is done, 2 failed tries of 16, next try 2026-03-01T10:00:04Z (in 4 s)',
    EndpointSlices: 'done (generation 5)',
    'Pending since': '2026-03-01T09:58:30Z (90 s ago)',
    'Last run': '2026-03-01T09:59:00Z (60 s ago)',
    Lease: 'until 2026-03-01T10:00:30Z (in 30 s)',
    'Reads the API server': 'until generation 5 is done',
    'Newest change seen': '2026-03-01T09:59:55Z (5 s ago)',
  });
  expect(factsOf(explanation, 'Service')).toMatchObject({
    Type: 'ClusterIP',
    Selector: 'app=a',
    Ports: 'http 80/TCP → 80',
    Families: 'IPv4',
  });
  expect(factsOf(explanation, 'Cluster')).toEqual({
    Mode: 'active',
    'Opt-in': 'off',
    Circuit: 'closed',
    'First lists': 'complete',
    Relay: 'last heartbeat 2026-03-01T09:59:58Z (2 s ago)',
    'Endpoints per slice': 'at most 100',
  });
});
