/**
 * Worlds in which exports prefer some endpoints, and what each node of cluster a is to use of the import
 * there, for kube-proxy's own code (G 35).
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { exporter, importer, namespace, pod, service, serviceExport } from './set-objects.ts';
import type { MemberOptions, SetWorld } from './set-world.ts';

export interface ProxyCase {
  readonly name: string;
  readonly members: { readonly [id: string]: MemberOptions };
  /** Change of a world at rest. The result is checked when the world is at rest again. */
  readonly change?: (world: SetWorld) => Promise<void> | void;
  /** The slices of a source that are as they were before the change: the moment between two writes. */
  readonly notYetWritten?: string;
  /**
   * Node → its zone ("": no label) and the last numbers of what it uses, by port: those of 10.1.0 are of
   * cluster a, of 10.2.0 of b, of 10.3.0 of c.
   */
  readonly uses: readonly (readonly [node: string, zone: string, addresses: Used])[];
}

/** By port; of one port alone its addresses. */
export type Used = readonly string[] | { readonly [port: string]: readonly string[] };

const node = (name: string, zone: string): RawObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, labels: zone ? { 'topology.kubernetes.io/zone': zone } : {} },
});
const nodes = [node('node-1', 'z1'), node('node-2', 'z2')];

interface Given {
  readonly annotations?: { readonly [key: string]: string };
  readonly spec?: object;
  readonly more?: readonly RawObject[];
}
/** Exports and imports shop/web, with two pods on a node in z1. */
const member = (ip: string, { annotations = {}, spec = {}, more = [] }: Given = {}): MemberOptions =>
  exporter(ip, {
    imports: 'active',
    given: [...nodes, serviceExport({ annotations }), service(spec), ...more],
  });
const onNode2 = (name: string, ip: string): RawObject => ({
  ...pod(name, ip),
  spec: { nodeName: 'node-2', containers: [] },
});
const terminating = (name: string, ip: string): RawObject => {
  const made = pod(name, ip);
  return {
    ...made,
    metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['test/keeps'] },
  } as RawObject;
};
const unready = (id: string, network: string, names: readonly number[]) => (world: SetWorld) => {
  for (const i of names) world.of(id).store.apply(pod(`web-${i}`, `${network}.${i}`, false));
};

const [a, b, c] = [
  ['10.1.0.1', '10.1.0.2'],
  ['10.2.0.1', '10.2.0.2'],
  ['10.3.0.1', '10.3.0.2'],
] as const;
const local = { annotations: { 'fleet-endpoints/prefer': 'local' } };
const zone = { annotations: { 'fleet-endpoints/prefer': 'zone' } };
const share = (minLocal: string) => ({
  annotations: { ...local.annotations, 'fleet-endpoints/min-local': minLocal },
});
const three = (given: Given) => ({
  a: member('10.1.0', given),
  b: member('10.2.0', given),
  c: member('10.3.0', given),
});
/** Node 3 came after the slices were written, in a zone of its own. */
const everywhere = (used: Used, elsewhere: Used = used): ProxyCase['uses'] => [
  ['node-1', 'z1', used],
  ['node-2', 'z2', used],
  ['node-3', 'z3', elsewhere],
  ['node-without-zone', '', elsewhere],
];

const metrics = { name: 'metrics', port: 9090, targetPort: 9090, protocol: 'TCP' };
const http = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' };
const dual = {
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'RequireDualStack',
  clusterIPs: ['10.96.0.9', 'fd00:10:96::9'],
};
const dualPod = (name: string, ip: string, ip6: string, isReady = true): RawObject => {
  const made = pod(name, ip, isReady) as RawObject & { status: object };
  return { ...made, status: { ...made.status, podIPs: [{ ip }, { ip: ip6 }] } } as RawObject;
};

export const proxyCases: readonly ProxyCase[] = [
  { name: 'any: all endpoints of all clusters', members: three({}), uses: everywhere([...a, ...b, ...c]) },
  {
    name: 'local: those of the cluster itself',
    members: three(local),
    uses: everywhere(a, [...a, ...b, ...c]),
  },
  {
    name: 'local, one local endpoint ready',
    members: three(local),
    change: unready('a', '10.1.0', [2]),
    uses: everywhere(['10.1.0.1'], ['10.1.0.1', ...b, ...c]),
  },
  {
    name: 'local, no local endpoint ready: those of all other clusters',
    members: three(local),
    change: unready('a', '10.1.0', [1, 2]),
    uses: everywhere([...b, ...c]),
  },
  {
    name: 'local, local endpoints terminating: those of other clusters',
    members: three(local),
    change: (world) => {
      for (const i of [1, 2]) world.of('a').store.apply(terminating(`web-${i}`, `10.1.0.${i}`));
    },
    uses: everywhere([...b, ...c]),
  },
  {
    name: 'local, no pod there: those of other clusters',
    members: three(local),
    change: removed('a', [1, 2]),
    uses: everywhere([...b, ...c]),
  },
  {
    name: 'local, in a cluster that does not export the name: all',
    members: {
      a: importer({ given: [namespace(), ...nodes] }),
      b: member('10.2.0', local),
      c: member('10.3.0', local),
    },
    uses: everywhere([...b, ...c]),
  },
  {
    name: 'local, other clusters have no ready endpoint',
    members: three(local),
    change: unready('b', '10.2.0', [1, 2]),
    uses: everywhere(a, [...a, ...c]),
  },
  {
    name: 'min-local, enough local endpoints',
    members: three(share('30%')),
    uses: everywhere(a, [...a, ...b, ...c]),
  },
  {
    name: 'min-local, too few local endpoints: one of another cluster too',
    members: three(share('30%')),
    change: unready('a', '10.1.0', [2]),
    // Two of five ready ones are 30%; the other one follows from the addresses.
    uses: everywhere(['10.1.0.1', '10.2.0.1'], ['10.1.0.1', ...b, ...c]),
  },
  {
    name: 'min-local, no local endpoint ready: those of all other clusters',
    members: three(share('30%')),
    change: unready('a', '10.1.0', [1, 2]),
    uses: everywhere([...b, ...c]),
  },
  { name: 'min-local of all: all', members: three(share('100%')), uses: everywhere([...a, ...b, ...c]) },
  {
    name: 'zone: those in the zone of the node',
    members: {
      a: member('10.1.0', { ...zone, more: [onNode2('web-3', '10.1.0.3')] }),
      b: member('10.2.0', { ...zone, more: [onNode2('web-3', '10.2.0.3')] }),
    },
    uses: [
      ['node-1', 'z1', [...a, ...b]],
      ['node-2', 'z2', ['10.1.0.3', '10.2.0.3']],
      ['node-3', 'z3', [...a, '10.1.0.3', ...b, '10.2.0.3']],
      ['node-without-zone', '', [...a, '10.1.0.3', ...b, '10.2.0.3']],
    ],
  },
  {
    name: 'zone, by trafficDistribution PreferSameNode: those in the zone of the node, and no node is preferred',
    members: {
      a: member('10.1.0', { spec: { trafficDistribution: 'PreferSameNode' } }),
      b: member('10.2.0', {
        spec: { trafficDistribution: 'PreferSameNode' },
        more: [onNode2('web-3', '10.2.0.3')],
      }),
    },
    uses: [
      ['node-1', 'z1', [...a, ...b]],
      ['node-2', 'z2', ['10.2.0.3']],
      ['node-3', 'z3', [...a, ...b, '10.2.0.3']],
    ],
  },
  {
    name: 'zone, none ready in the zone: all',
    members: {
      a: member('10.1.0', { ...zone, more: [onNode2('web-3', '10.1.0.3')] }),
      b: member('10.2.0', zone),
    },
    change: (world) =>
      void world.of('a').store.apply({
        ...onNode2('web-3', '10.1.0.3'),
        status: pod('', '10.1.0.3', false)['status'],
      } as RawObject),
    uses: everywhere([...a, ...b]).map(([name, at]) => [name, at, [...a, ...b]] as const),
  },
  {
    name: 'zone, a ready endpoint without a zone: all',
    members: { a: member('10.1.0', zone), b: member('10.2.0', { ...zone, more: [node('node-1', '')] }) },
    uses: everywhere([...a, ...b]),
  },
  {
    name: 'local, nodes without zones: all',
    members: {
      a: member('10.1.0', { ...local, more: [node('node-1', ''), node('node-2', '')] }),
      b: member('10.2.0', local),
    },
    uses: everywhere([...a, ...b]),
  },
  {
    name: 'local, a port that another cluster alone has: its endpoints',
    members: {
      a: member('10.1.0', local),
      b: member('10.2.0', { ...local, spec: { ports: [http, metrics] } }),
    },
    uses: everywhere({ http: a, metrics: b }, { http: [...a, ...b], metrics: b }),
  },
  {
    name: 'local, two families: those of the cluster itself in each',
    members: {
      a: member('10.1.0', {
        ...local,
        spec: dual,
        more: [dualPod('web-1', '10.1.0.1', 'fd00:1::1'), dualPod('web-2', '10.1.0.2', 'fd00:1::2')],
      }),
      b: member('10.2.0', {
        ...local,
        spec: dual,
        more: [dualPod('web-1', '10.2.0.1', 'fd00:2::1'), dualPod('web-2', '10.2.0.2', 'fd00:2::2')],
      }),
    },
    uses: everywhere(
      [...a, 'fd00:1::1', 'fd00:1::2'],
      [...a, ...b, 'fd00:1::1', 'fd00:1::2', 'fd00:2::1', 'fd00:2::2'],
    ),
  },
  {
    name: 'local, between the writes of two slices: all',
    members: three({}),
    change: (world) => {
      for (const id of ['a', 'b', 'c']) world.of(id).store.apply(serviceExport({ ...local, generation: 2 }));
    },
    notYetWritten: 'b',
    uses: everywhere([...a, ...b, ...c]),
  },
  {
    name: 'local, slices of a silent source without hints: all',
    members: three({}),
    change: async (world) => {
      world.of('b').isBeating = false;
      world.of('b').apiAnswers = false;
      await world.pass(180);
      for (const id of ['a', 'c']) world.of(id).store.apply(serviceExport({ ...local, generation: 2 }));
    },
    uses: everywhere([...a, ...b, ...c]),
  },
  {
    name: 'local, a source that became silent: those of the cluster itself',
    members: three(local),
    change: async (world) => {
      world.of('b').isBeating = false;
      world.of('b').apiAnswers = false;
      await world.pass(180);
      unready('a', '10.1.0', [2])(world);
    },
    uses: everywhere(['10.1.0.1'], ['10.1.0.1', ...b, ...c]),
  },
];

function removed(id: string, names: readonly number[]) {
  return (world: SetWorld): void => {
    for (const i of names) world.of(id).store.remove('Pod', 'shop', `web-${i}`);
  };
}
