/** Shadow mode compares every field that upstream's controllers write. */

import { describe, expect, it } from 'vitest';
import { comparedZones } from '#functions/sync/controllers/compared-zones.ts';
import { differencesOf } from '#functions/sync/controllers/shadow-compare.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import { annotationOverCapacity, annotationTriggerTime } from '#shared/kube/names.ts';
import type { Endpoint, EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { node, nodes, pod, service } from '#test/unit/shared/controllers/slices/fixtures.ts';

const meta = {
  relay: {},
  mode: 'shadow',
  optIn: 'off',
  settings: { controllers: ['endpoints', 'slices'], maxEndpointsPerSlice: 100 },
} as never;
const key = { cluster: 'c', namespace: 'ns', name: 'foo' };
const ports = [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }];
const web = service(
  { clusterIP: 'None', trafficDistribution: 'PreferSameNode', ports },
  { labels: { team: 'a' } },
);
const pods = [pod(1, { spec: { containers: [], hostname: 'web-1', subdomain: 'foo' } }), pod(2)];
const input = {
  ...key,
  service: web,
  pods,
  nodes: nodes(node('node-1', 'zone-a')),
  triggerTimes: undefined,
  hints: undefined,
};

const written = decideEndpoints({ ...input, current: undefined }).write;
const endpoints = (written && 'object' in written ? written.object : undefined) as Endpoints;
const slice = (): EndpointSlice => {
  const [draft] = decideSlices({ ...input, slices: [], maxEndpointsPerSlice: 100 }).addressTypes.flatMap(
    (t) => t.create,
  );
  return { ...draft, metadata: { ...draft?.metadata, name: 'foo-1' } } as EndpointSlice;
};

const compared = ({
  endpoints: e = endpoints,
  slices = [slice()],
  version,
}: {
  endpoints?: Endpoints;
  slices?: readonly EndpointSlice[];
  version?: string;
}) => {
  const outputs = [
    { kind: 'Endpoints', object: e },
    ...slices.map((object) => ({ kind: 'EndpointSlice', object })),
  ];
  return differencesOf({ ...(meta as object), relay: { kubernetesVersion: version } } as never, key, {
    ...input,
    writers: writersFor(web, meta),
    outputs,
  } as never);
};

it('outputs that the hub would write as they are do not differ', () => expect(compared({})).toEqual([]));

it.each([
  ['v1.31.0', []],
  ['v1.32.9-eks-1', []],
  [
    'v1.33.13',
    [
      expect.stringContaining('missing in the cluster: labels endpoints.kubernetes.io/managed-by'),
      expect.stringContaining('only in the cluster: labels'),
    ],
  ],
])(
  'Endpoints without the managed-by label in a cluster of %s differ only if its controllers write the label [DF-7]',
  (version, expected) => {
    const { 'endpoints.kubernetes.io/managed-by': _, ...labels } = endpoints.metadata.labels ?? {};
    const unlabelled = { ...endpoints, metadata: { ...endpoints.metadata, labels } };
    expect(compared({ endpoints: unlabelled, version })).toEqual(expected);
  },
);

it('a missing headless label alone is no difference in a cluster whose controllers write no managed-by label [DF-7, EP-58]', () => {
  expect(
    compared({
      endpoints: { ...endpoints, metadata: { ...endpoints.metadata, labels: { team: 'a' } } },
      version: 'v1.31.0',
    }),
  ).toEqual([]);
});

it.each([
  ['v1.31.0', []],
  ['v1.32.2', ['Endpoints']],
  ['v1.33.0', ['Endpoints', 'EndpointSlices']],
  [undefined, ['Endpoints', 'EndpointSlices']],
] as const)(
  'outputs without the named port of a restartable init container differ in a cluster of %s in %j [DF-15]',
  (version, expected) => {
    const named = service({
      clusterIP: 'None',
      ports: [{ name: 'http', port: 80, targetPort: 'proxy', protocol: 'TCP' }],
    });
    const proxy = {
      name: 'p',
      restartPolicy: 'Always',
      ports: [{ name: 'proxy', containerPort: 15001, protocol: 'TCP' }],
    };
    const without = { ...input, service: named, pods: [pod(1)] };
    const slices = decideSlices({ ...without, slices: [], maxEndpointsPerSlice: 100 }).addressTypes;
    const { write } = decideEndpoints({ ...without, current: undefined });
    const outputs = [
      ...(write && 'object' in write ? [{ kind: 'Endpoints', object: write.object }] : []),
      ...slices
        .flatMap(({ create }) => create)
        .map((draft, i) => ({
          kind: 'EndpointSlice',
          object: { ...draft, metadata: { ...draft.metadata, name: `foo-${i}` } },
        })),
    ];
    const inCluster = { ...(meta as object), relay: { kubernetesVersion: version } } as never;
    const differences = differencesOf(inCluster, key, {
      ...without,
      pods: [pod(1, { spec: { containers: [], initContainers: [proxy] } })],
      writers: writersFor(named, meta),
      outputs,
    } as never);
    const missing = differences.filter(
      (line) => line.includes('missing in the cluster') && !line.includes('labels'),
    );
    expect(missing.map((line) => line.split(':')[0])).toEqual(expected);
  },
);

it.each([
  ['v1.37.2', 0],
  ['v1.38.0', 2],
])(
  'a placeholder of a former Service of that name is %s with %i differences [DF-28]',
  (version, differences) => {
    const made = slice();
    const ownerReferences = (made.metadata.ownerReferences ?? []).map((o) => ({ ...o, uid: 'former' }));
    const former = { ...made, metadata: { ...made.metadata, ownerReferences }, endpoints: [], ports: [] };
    const lines = differencesOf(
      { ...(meta as object), relay: { kubernetesVersion: version } } as never,
      key,
      {
        ...input,
        pods: [],
        writers: writersFor(web, meta),
        outputs: [{ kind: 'EndpointSlice', object: former }],
      } as never,
    );
    expect(lines.filter((line) => line.startsWith('EndpointSlices'))).toHaveLength(differences);
  },
);

describe('shadow mode compares of slices', () => {
  const inFirst = (change: Partial<Endpoint>) => {
    const { endpoints: all, ...rest } = slice();
    return compared({
      slices: [{ ...rest, endpoints: (all ?? []).map((e, i) => (i === 0 ? { ...e, ...change } : e)) }],
    });
  };
  const [first] = slice().endpoints as readonly [Endpoint];

  it.each<[string, Partial<Endpoint>, string]>([
    ['the addresses', { addresses: ['10.9.9.9'] }, 'IPv4 10.9.9.9 '],
    ['the hostname', { hostname: 'other' }, 'hostname=other'],
    ['the node', { nodeName: 'node-2' }, 'node=node-2'],
    ['the zone', { zone: 'zone-b' }, 'zone=zone-b'],
    ['readiness', { conditions: { ...first.conditions, ready: false } }, 'ready=false'],
    ['serving', { conditions: { ...first.conditions, serving: false } }, 'serving=false'],
    ['terminating', { conditions: { ...first.conditions, terminating: true } }, 'terminating=true'],
    ['hints for zones', { hints: { ...first.hints, forZones: [{ name: 'zone-b' }] } }, 'forZones=zone-b'],
    ['hints for nodes', { hints: { ...first.hints, forNodes: [{ name: 'node-2' }] } }, 'forNodes=node-2'],
    ['the UID of the Pod', { targetRef: { ...first.targetRef, uid: 'other' } }, 'uid=other'],
    [
      'the namespace of the Pod',
      { targetRef: { ...first.targetRef, namespace: 'other' } },
      'namespace=other',
    ],
    ['the kind of the reference', { targetRef: { ...first.targetRef, kind: 'Other' } }, 'kind=Other'],
    [
      'topology of the first version, in a slice that is written',
      { deprecatedTopology: { rack: 'r' }, zone: 'zone-b' },
      '{"rack":"r"}',
    ],
  ])('%s', (_what, change, shown) => {
    expect(inFirst(change)).toContainEqual(
      expect.stringMatching(/^EndpointSlices: missing in the cluster: IPv4 10\.1\.0/),
    );
    expect(
      inFirst(change).find((line) => line.startsWith('EndpointSlices: only in the cluster: IPv4')),
    ).toContain(shown);
  });

  it('the application protocol of a port', () => {
    const other = { ...slice(), ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'other' }] };
    expect(compared({ slices: [other] })).toContainEqual(
      expect.stringMatching(/only in the cluster: .* on http 80\/TCP other$/),
    );
  });

  it('labels', () => {
    const { metadata, ...rest } = slice();
    const other = { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, team: 'b' } } };
    expect(compared({ slices: [other] })).toEqual([
      expect.stringMatching(/^EndpointSlices: missing in the cluster: IPv4 slice with labels .*team=a/),
      expect.stringMatching(/^EndpointSlices: only in the cluster: IPv4 slice with labels .*team=b/),
    ]);
  });

  it('the owner', () => {
    const { metadata, ...rest } = slice();
    const other = {
      ...rest,
      metadata: {
        ...metadata,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'foo', uid: 'former' }],
      },
    };
    expect(compared({ slices: [other] })).toContainEqual(
      expect.stringMatching(/only in the cluster: IPv4 slice .* of Service foo former$/),
    );
  });

  it('a placeholder that is missing', () => {
    const outputs = [{ kind: 'Endpoints', object: endpoints }];
    const none = differencesOf(meta, key, {
      ...input,
      pods: [],
      writers: writersFor(web, meta),
      outputs,
    } as never);
    expect(none).toContainEqual(
      expect.stringMatching(/^EndpointSlices: missing in the cluster: IPv4 slice with labels/),
    );
  });

  it('the trigger time is no difference, because it follows from the memory of a process', () => {
    const { metadata, ...rest } = slice();
    expect(
      compared({
        slices: [{ ...rest, metadata: { ...metadata, annotations: { [annotationTriggerTime]: 'x' } } }],
      }),
    ).toEqual([]);
  });
});

describe('shadow mode compares of Endpoints', () => {
  const [subset] = endpoints.subsets ?? [];
  const inFirst = (change: object) => {
    const addresses = (subset?.addresses ?? []).map((a, i) => (i === 0 ? { ...a, ...change } : a));
    return compared({ endpoints: { ...endpoints, subsets: [{ ...subset, addresses }] } });
  };
  const targetRef = subset?.addresses?.[0]?.targetRef;

  it.each<[string, object, string]>([
    ['the address', { ip: '10.9.9.9' }, ': 10.9.9.9 '],
    ['the hostname', { hostname: 'other' }, 'hostname=other'],
    ['the node', { nodeName: 'node-2' }, 'node=node-2'],
    ['the UID of the Pod', { targetRef: { ...targetRef, uid: 'other' } }, 'uid=other'],
    ['the namespace of the Pod', { targetRef: { ...targetRef, namespace: 'other' } }, 'namespace=other'],
    ['the kind of the reference', { targetRef: { ...targetRef, kind: 'Other' } }, 'kind=Other'],
  ])('%s', (_what, change, shown) => {
    expect(inFirst(change)).toHaveLength(2);
    expect(inFirst(change)[0]).toMatch(/^Endpoints: missing in the cluster: 10\.1\.0/);
    expect(inFirst(change)[1]).toMatch(/^Endpoints: only in the cluster: /);
    expect(inFirst(change)[1]).toContain(shown);
  });

  it('the application protocol of a port', () => {
    const subsets = [
      { ...subset, ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'other' }] },
    ];
    expect(compared({ endpoints: { ...endpoints, subsets } })).toContainEqual(
      expect.stringMatching(/only in the cluster: .* on http 80\/TCP other$/),
    );
  });

  it('readiness', () => {
    const { addresses, ...rest } = subset ?? {};
    const subsets = [{ ...rest, notReadyAddresses: addresses ?? [] }];
    expect(compared({ endpoints: { ...endpoints, subsets } })).toContainEqual(
      expect.stringMatching(/only in the cluster: .* ready=false/),
    );
  });

  it('labels', () => {
    const labels = { ...endpoints.metadata.labels, team: 'b' };
    expect(compared({ endpoints: { ...endpoints, metadata: { ...endpoints.metadata, labels } } })).toEqual([
      expect.stringMatching(/^Endpoints: missing in the cluster: labels .*team=a/),
      expect.stringMatching(/^Endpoints: only in the cluster: labels .*team=b/),
    ]);
  });

  it('the annotation that names a cut list', () => {
    const annotations = { [annotationOverCapacity]: 'truncated' };
    expect(
      compared({ endpoints: { ...endpoints, metadata: { ...endpoints.metadata, annotations } } }),
    ).toEqual([`Endpoints: only in the cluster: annotation ${annotationOverCapacity}=truncated`]);
  });
});

describe('during a zonal shift of EKS', () => {
  const ofZone = (zone: string) => ({
    name: `node-${zone}`,
    node: { metadata: { name: `node-${zone}`, labels: { 'topology.kubernetes.io/zone': zone } } },
  });
  const [a, b] = [ofZone('a'), ofZone('b')];
  const nodes = new Map([a, b].map(({ name, node }) => [name, node] as const));
  const now = Date.parse('2026-03-01T12:00:00Z');
  const shiftedUntil = (untilMs: number) => ({
    zones: { byShifts: [{ zone: 'a', sinceMs: now - 60_000, untilMs, by: 'ARC shift zs-1' }] },
  });
  const endpointOn = (nodeName: string, address: string) => ({
    addresses: [address],
    nodeName,
    conditions: {},
  });
  const sliceOf = (...endpoints: readonly object[]) => ({ ...slice(), endpoints }) as EndpointSlice;
  const without = (untilMs: number) => comparedZones(shiftedUntil(untilMs) as never, nodes as never, now);

  it.each([
    ['goes on', now + 1],
    ['has ended lately', now - 179_000],
  ])('endpoints of the zone are compared on neither side while it %s', (_, untilMs) => {
    const zone = endpointOn(a.name, '10.0.0.1');
    const other = endpointOn(b.name, '10.0.0.2');
    expect(without(untilMs).slices([sliceOf(zone, other), sliceOf(zone), sliceOf()])).toEqual([
      sliceOf(other),
    ]);
    const [ofA, ofB] = [
      { ip: '10.0.0.1', nodeName: a.name },
      { ip: '10.0.0.2', nodeName: b.name },
    ];
    const given = { metadata: {}, subsets: [{ addresses: [ofA, ofB] }, { notReadyAddresses: [ofA] }] };
    expect(without(untilMs).endpoints(given as never)?.subsets).toEqual([
      { addresses: [ofB], notReadyAddresses: [] },
    ]);
  });

  it('everything is compared three minutes after its end', () => {
    const slices = [sliceOf(endpointOn(a.name, '10.0.0.1')), sliceOf()];
    expect(without(now - 180_000).slices(slices)).toBe(slices);
  });
});
