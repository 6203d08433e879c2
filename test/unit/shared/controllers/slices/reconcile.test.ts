import { describe, expect, it } from 'vitest';
import { labelHeadless, labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { Endpoint } from '#shared/kube/types.ts';
import { hasWork } from '#test/support/slices-work.ts';
import {
  decide,
  endpoint,
  endpoints,
  managed,
  node,
  nodes,
  only,
  owner,
  pod,
  pods,
  service,
  slice,
  writes,
} from './fixtures.ts';

describe('a service without pods', () => {
  it('gets a placeholder and counts as one slice [UT-80 TestReconcileEmpty]', () => {
    const plan = only(decide());
    expect(plan).toMatchObject({
      endpointsDesired: 0,
      slicesActual: 1,
      slicesDesired: 1,
      endpointsAdded: 0,
      endpointsRemoved: 0,
      slicesChanged: 1,
    });
    expect(plan.create).toMatchObject([{ ports: [], endpoints: [], metadata: { labels: managed } }]);
  });

  it('a service without pods has its placeholder created, left alone or given new labels [UT-82 TestReconcile1EndpointSlice]', () => {
    expect(writes(decide())).toEqual([1, 0, 0]);
    expect(writes(decide({ slices: [slice('foo-a', [], { ports: [] })] }))).toEqual([0, 0, 0]);
    expect(
      writes(
        decide({ slices: [slice('foo-a', [], { ports: [] })], service: service({}, { labels: { x: 'y' } }) }),
      ),
    ).toEqual([0, 1, 0]);
  });

  describe('[UT-82 TestPlaceHolderSliceCompare]', () => {
    const outcome = (more: Parameters<typeof slice>[2]) =>
      writes(decide({ slices: [slice('foo-a', [], { ports: [], ...more })] }));

    it.each([
      ['another name', { metadata: { name: 'bar' } }],
      ['another creation time', { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } }],
      ['other annotations', { metadata: { annotations: { a: 'b' } } }],
      ['an empty headless label too many', { metadata: { labels: { ...managed, [labelHeadless]: '' } } }],
    ])('%s makes no difference', (_, more) => {
      expect(outcome(more)).toEqual([0, 0, 0]);
    });

    it('the owner of a former Service makes a difference, as in v1.38', () => {
      const ownerReferences = [{ ...owner, uid: 'other' }];
      expect(outcome({ metadata: { ownerReferences } })).toEqual([1, 0, 1]);
    });

    it('other labels make a difference', () => {
      expect(outcome({ metadata: { labels: { ...managed, x: 'y' } } })).toEqual([0, 1, 0]);
    });

    it('another address type is another slice', () => {
      expect(outcome({ addressType: 'IPv6' })).toEqual([1, 0, 1]);
    });
  });
});

describe('a service with one pod [UT-81 TestReconcile1Pod]', () => {
  const one = pod(1, {
    ips: ['1.2.3.4', '1234::5678:0000:0000:9abc:def0'],
    spec: { hostname: 'example-hostname', containers: [] },
  });
  const expected = (address: string): Endpoint => ({
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: 'Pod', namespace: 'ns', name: 'pod0001', uid: 'pod-uid-1' },
    nodeName: 'node-1',
    zone: 'us-central1-a',
  });
  const [v4, v6] = [expected('1.2.3.4'), expected('1234::5678:0:0:9abc:def0')];
  const headless = { ...managed, [labelHeadless]: '' };
  const bad = { [labelServiceName]: 'bad', [labelSliceManagedBy]: 'actor', [labelHeadless]: 'invalid' };

  it.each([
    ['no families', service({ ipFamilies: undefined }), managed, [v4]],
    ['IPv4 without a cluster IP', service({ clusterIP: undefined }), headless, [v4]],
    ['IPv4 with a cluster IP', service({ clusterIP: '1.1.1.1' }), managed, [v4]],
    [
      'labels',
      service({ clusterIP: undefined }, { labels: { foo: 'bar' } }),
      { ...headless, foo: 'bar' },
      [v4],
    ],
    ['bad reserved labels', service({ clusterIP: undefined }, { labels: bad }), headless, [v4]],
    ['IPv6 without a cluster IP', service({ clusterIP: undefined, ipFamilies: ['IPv6'] }), headless, [v6]],
    [
      'IPv6 with a cluster IP',
      service({ clusterIP: '1234::5678:0000:0000:9abc:def1', ipFamilies: ['IPv6'] }),
      managed,
      [v6],
    ],
    ['both families', service({ ipFamilies: ['IPv6', 'IPv4'] }), managed, [v4, v6]],
  ])('a service with one pod has one slice for each family: %s', (_, svc, labels, wanted) => {
    const plan = decide({ service: svc, pods: [one], nodes: nodes(node('node-1', 'us-central1-a')) });
    const created = plan.addressTypes.flatMap((type) => type.create);
    expect(created.map((s) => s.endpoints)).toEqual(wanted.map((e) => [e]));
    expect(created.map((s) => s.metadata.labels)).toEqual(wanted.map(() => labels));
    expect(plan.addressTypes).toMatchObject(
      wanted.map(() => ({ endpointsAdded: 1, endpointsDesired: 1, slicesActual: 1, slicesDesired: 1 })),
    );
  });
});

describe('a service that is being deleted [UT-90 TestReconcilerFinalizeSvcDeletionTimestamp]', () => {
  const deletedService = service({}, { deletionTimestamp: '2024-01-01T00:00:00Z' });
  const createAndUpdate = { pods: pods(150), slices: [slice('foo-a', endpoints(0, 40))] };
  const recycling = {
    pods: pods(150),
    slices: [slice('foo-a', endpoints(0, 80)), slice('foo-b', endpoints(80, 90), { ports: [] })],
    maxEndpointsPerSlice: 80,
  };

  it('creates and updates while it is there', () => {
    expect(writes(decide(createAndUpdate))).toEqual([1, 1, 0]);
  });

  it('only updates once it goes', () => {
    const plan = decide({ ...createAndUpdate, service: deletedService });
    expect(writes(plan)).toEqual([0, 1, 0]);
    expect(only(plan).slicesChanged).toBe(2);
  });

  it.each([
    ['is there', service()],
    ['goes', deletedService],
  ])('recycles whether it %s', (_, svc) => {
    expect(writes(decide({ ...recycling, service: svc }))).toEqual([0, 1, 0]);
  });

  it('still updates and deletes', () => {
    const slices = [slice('foo-a', endpoints(0, 10)), slice('foo-b', endpoints(10, 20))];
    expect(writes(decide({ pods: pods(9), slices, service: deletedService }))).toEqual([0, 1, 1]);
  });
});

describe('pods whose node is not known [UT-91 TestReconcilerPodMissingNode]', () => {
  const some = [pod(0), pod(1, { node: 'node-2' })];
  const missing = 'skipping Pod pod0001 for Service ns/foo: Node node-2 Not Found';
  const publish = service({ publishNotReadyAddresses: true });
  const both = slice('foo-a', [endpoint(0), endpoint(1, { nodeName: 'node-2' })]);

  it('pods whose node is not known are left out, with an error', () => {
    const plan = only(decide({ pods: some }));
    expect(plan.create.map((s) => s.endpoints)).toEqual([[endpoint(0)]]);
    expect(plan.errors).toEqual([missing]);
  });

  it('pods whose node is not known are listed without a zone if not ready addresses are published', () => {
    const plan = only(decide({ pods: some, service: publish, nodes: nodes(node('node-1', 'a')) }));
    expect(plan.create.map((s) => s.endpoints?.map((e) => e.zone))).toEqual([['a', undefined]]);
    expect(plan.errors).toEqual([]);
  });

  it('pods whose node is not known are taken out of the slice they were in', () => {
    const plan = only(decide({ pods: some, slices: [both] }));
    expect(plan.update.map((s) => s.endpoints)).toEqual([[endpoint(0)]]);
    expect(plan.errors).toEqual([missing]);
  });

  it('stay where they are if published, even if no node is known', () => {
    expect(hasWork(decide({ pods: some, service: publish, slices: [both], nodes: nodes() }))).toBe(false);
    expect(hasWork(decide({ pods: some, service: publish, slices: [both] }))).toBe(false);
  });

  it('leave a placeholder behind if there are no others', () => {
    const plan = decide({ pods: some, slices: [both], nodes: nodes() });
    expect(only(plan).update).toMatchObject([{ metadata: { name: 'foo-a' }, endpoints: [], ports: [] }]);
    expect(only(plan).errors).toEqual([
      'skipping Pod pod0000 for Service ns/foo: Node node-1 Not Found',
      missing,
    ]);
  });

  it('count as missing without a node name', () => {
    expect(only(decide({ pods: [pod(0, { node: '' })] })).errors).toEqual([
      'skipping Pod pod0000 for Service ns/foo: Node  Not Found',
    ]);
  });

  it('errors may come without writes', () => {
    const plan = decide({ pods: some, slices: [slice('foo-a', [endpoint(0)])] });
    expect([writes(plan), only(plan).errors]).toEqual([[0, 0, 0], [missing]]);
  });
});

it('a slice has ports in the order of their hashes', () => {
  const ports = [
    { name: 'https', port: 443, targetPort: 8443, protocol: 'TCP' },
    { name: 'dns', port: 53, targetPort: 53, protocol: 'UDP', appProtocol: 'foo' },
    { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' },
  ];
  const [created] = only(decide({ service: service({ ports }), pods: [pod(0)] })).create;
  expect(created?.ports?.map((p) => p.name)).toEqual(['http', 'dns', 'https']);
});
