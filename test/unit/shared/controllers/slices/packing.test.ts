import { describe, expect, it } from 'vitest';
import type { SlicesInput } from '#shared/controllers/slices/plan.ts';
import {
  annotationTriggerTime,
  labelHeadless,
  labelServiceName,
  labelSliceManagedBy,
} from '#shared/kube/names.ts';
import type { Pod } from '#shared/kube/types.ts';
import { hasWork } from '#test/support/slices-work.ts';
import {
  carryOut,
  decide,
  endpoint,
  endpoints,
  input,
  managed,
  only,
  owner,
  pod,
  pods,
  service,
  sizes,
  slice,
  writes,
} from './fixtures.ts';

const settled = (more: Partial<SlicesInput>): SlicesInput => carryOut(input(more), decide(more));

describe('packing', () => {
  it('lists every pod as ready with publishNotReadyAddresses [UT-83 TestReconcile1EndpointSlicePublishNotReadyAddresses]', () => {
    const some = Array.from({ length: 50 }, (_, i) => pod(i, { ready: i % 3 !== 0 }));
    const [created] = only(
      decide({ service: service({ publishNotReadyAddresses: true }), pods: some }),
    ).create;
    expect(created?.endpoints?.map((e) => e.conditions?.ready)).toEqual(Array(50).fill(true));
  });

  it('spreads 250 pods over 100, 100 and 50 [UT-83 TestReconcileManyPods]', () => {
    const plan = only(decide({ pods: pods(250) }));
    expect(sizes(plan.create)).toEqual([100, 100, 50]);
    expect(plan).toMatchObject({ endpointsAdded: 250, slicesActual: 3, slicesDesired: 3, slicesChanged: 3 });
  });

  it('prefers one new slice and one update to two updates [UT-84 TestReconcileEndpointSlicesSomePreexisting]', () => {
    const slices = [slice('foo-a', endpoints(0, 62)), slice('foo-b', endpoints(62, 123))];
    const plan = only(decide({ pods: pods(250), slices }));
    expect(sizes(plan.create)).toEqual([100]);
    expect(plan.update.map((s) => [s.metadata.name, s.endpoints?.length])).toEqual([['foo-a', 89]]);
    expect(plan).toMatchObject({
      endpointsAdded: 127,
      endpointsRemoved: 0,
      slicesActual: 3,
      slicesDesired: 3,
    });
  });

  it('rather creates than updates two, even if that leaves more slices [UT-84 TestReconcileEndpointSlicesSomePreexistingWorseAllocation]', () => {
    const slices = [slice('foo-a', endpoints(0, 74)), slice('foo-b', endpoints(74, 148))];
    const plan = only(decide({ pods: pods(300), slices }));
    expect([sizes(plan.create), plan.update]).toEqual([[100, 52], []]);
    expect(plan).toMatchObject({ endpointsAdded: 152, slicesActual: 4, slicesDesired: 3 });
  });

  it('keeps what an unchanged slice that is filled has, labels included', () => {
    const odd = slice('foo-a', [endpoint(0, { hints: { forZones: [{ name: 'a' }] } })], {
      metadata: { labels: { ...managed, [labelHeadless]: 'odd' } },
    });
    const [update] = only(decide({ pods: pods(2), slices: [odd] })).update;
    expect(update?.metadata.labels).toEqual(odd.metadata.labels);
    expect(update?.endpoints).toEqual([endpoint(0), endpoint(1)]);
  });

  it('fills the fullest of the slices that are written anyway first', () => {
    const slices = [
      slice('foo-a', endpoints(0, 4)),
      slice('foo-b', endpoints(10, 16)),
      slice('foo-c', endpoints(20, 29)),
    ];
    const wanted = [
      ...pods(16).slice(1, 4),
      ...pods(16).slice(11),
      ...pods(29).slice(20),
      ...pods(40).slice(30, 36),
    ];
    const { update, create } = only(decide({ pods: wanted, slices, maxEndpointsPerSlice: 10 }));
    expect(update.map((s) => [s.metadata.name, s.endpoints?.length])).toEqual([
      ['foo-a', 4],
      ['foo-b', 10],
    ]);
    expect(create).toEqual([]);
  });

  it('moves every slice to a new target port in place [UT-85 TestReconcileEndpointSlicesUpdating]', () => {
    const before = settled({ pods: pods(250) });
    const plan = decide({
      ...before,
      service: service({ ports: [{ name: 'http', port: 80, targetPort: 81, protocol: 'TCP' }] }),
    });
    expect(writes(plan)).toEqual([0, 3, 0]);
    expect(only(plan).update.map((s) => s.ports?.[0]?.port)).toEqual([81, 81, 81]);
  });

  it('gives every slice the new labels of the service [UT-85 TestReconcileEndpointSlicesServicesLabelsUpdating]', () => {
    const before = settled({ pods: pods(250) });
    const plan = decide({ ...before, service: service({}, { labels: { foo: 'bar' } }) });
    expect(writes(plan)).toEqual([0, 3, 0]);
    expect(only(plan).update.map((s) => s.metadata.labels)).toEqual(
      Array(3).fill({ ...managed, foo: 'bar' }),
    );
  });

  it('packing does nothing about reserved labels on the service [UT-85 TestReconcileEndpointSlicesServicesReservedLabels]', () => {
    const before = settled({ pods: pods(250) });
    const labels = { [labelServiceName]: 'bad', [labelSliceManagedBy]: 'actor', [labelHeadless]: 'invalid' };
    expect(hasWork(decide({ ...before, service: service({}, { labels }) }))).toBe(false);
  });

  it('recycles slices for new ports and deletes the rest [UT-86 TestReconcileEndpointSlicesRecycling]', () => {
    const slices = Array.from({ length: 10 }, (_, i) => slice(`foo-${i}`, endpoints(i * 30, i * 30 + 30)));
    const before = input({ pods: pods(300), slices });
    expect(hasWork(decide(before))).toBe(false);
    const plan = decide({
      ...before,
      service: service({ ports: [{ name: 'http', port: 80, targetPort: 81, protocol: 'TCP' }] }),
    });
    expect(writes(plan)).toEqual([0, 3, 7]);
    expect(sizes(only(plan).update)).toEqual([100, 100, 100]);
    expect(only(plan)).toMatchObject({
      endpointsAdded: 300,
      endpointsRemoved: 0,
      slicesActual: 3,
      slicesDesired: 3,
    });
  });

  it('recycles as a fresh object under the old name, uid and version', () => {
    const metadata = {
      annotations: { mine: 'x' },
      finalizers: ['f'],
      generation: 4,
      ownerReferences: [owner, { ...owner, kind: 'Other', uid: 'o' }],
    };
    const [update] = only(decide({ slices: [slice('foo-a', [endpoint(1)], { metadata })] })).update;
    expect(update?.metadata).toEqual({
      generateName: 'foo-',
      name: 'foo-a',
      uid: 'uid-foo-a',
      resourceVersion: '1',
      namespace: 'ns',
      labels: managed,
      annotations: { [annotationTriggerTime]: '2024-01-01T00:00:00Z' },
      ownerReferences: [owner],
    });
  });

  it('fills slices that are updated before it creates any [UT-86 TestReconcileEndpointSlicesUpdatePacking]', () => {
    const slices = [slice('foo-a', endpoints(0, 80)), slice('foo-b', endpoints(100, 120))];
    const changed = [...pods(80), ...pods(120).slice(100), ...pods(215).slice(200)].map(
      (p): Pod =>
        ['pod0000', 'pod0100'].includes(p.metadata.name)
          ? pod(Number(p.metadata.name.slice(3)), { ready: false })
          : p,
    );
    const plan = only(decide({ pods: changed, slices }));
    expect(plan.update.map((s) => [s.metadata.name, s.endpoints?.length])).toEqual([
      ['foo-a', 95],
      ['foo-b', 20],
    ]);
    expect([plan.create, plan.delete]).toEqual([[], []]);
  });

  it('replaces slices of the old IP type [UT-87 TestReconcileEndpointSlicesReplaceDeprecated]', () => {
    const slices = [
      slice('foo-a', endpoints(0, 80), { addressType: 'IP' }),
      slice('foo-b', endpoints(80, 100), { addressType: 'IP' }),
    ];
    const plan = decide({ pods: pods(130), slices });
    expect(sizes(only(plan).create)).toEqual([100, 30]);
    expect(plan.unsupported.map((s) => s.metadata.name)).toEqual(['foo-a', 'foo-b']);
  });

  it('keeps slices of this service and replaces those of a former one [UT-87 TestReconcileEndpointSlicesRecreation]', () => {
    const mine = slice('foo-a', [endpoint(0)]);
    expect(hasWork(decide({ pods: [pod(0)], slices: [mine] }))).toBe(false);
    const former = slice('foo-a', [endpoint(0)], {
      metadata: { ownerReferences: [{ ...owner, uid: 'other' }] },
    });
    expect(writes(decide({ pods: [pod(0)], slices: [former] }))).toEqual([1, 0, 1]);
  });

  it('keeps pods with different port numbers in slices of their own [UT-88 TestReconcileEndpointSlicesNamedPorts]', () => {
    const named = service({ ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] });
    const some = Array.from({ length: 300 }, (_, i) =>
      pod(i, {
        spec: {
          containers: [
            { name: 'c', ports: [{ name: 'http', containerPort: 8080 + (i % 5), protocol: 'TCP' }] },
          ],
        },
      }),
    );
    const plan = only(decide({ service: named, pods: some }));
    expect(sizes(plan.create)).toEqual([60, 60, 60, 60, 60]);
    expect(new Set(plan.create.map((s) => s.ports?.[0]?.port))).toEqual(
      new Set([8080, 8081, 8082, 8083, 8084]),
    );
    expect(plan).toMatchObject({ endpointsDesired: 300, slicesActual: 5, slicesDesired: 5 });
  });

  it.each([
    [50, [50, 50, 50, 50, 50]],
    [80, [80, 80, 80, 10]],
    [150, [150, 100]],
    [250, [250]],
    [500, [250]],
  ])(
    'puts at most %i endpoints in a slice [UT-88 TestReconcileMaxEndpointsPerSlice]',
    (maxEndpointsPerSlice, expected) => {
      expect(sizes(only(decide({ pods: pods(250), maxEndpointsPerSlice })).create)).toEqual(expected);
    },
  );

  it('counts endpoints added and removed [UT-89 TestReconcileEndpointSlicesMetrics]', () => {
    const before = settled({ pods: pods(20) });
    expect(only(decide({ pods: pods(20) }))).toMatchObject({
      endpointsAdded: 20,
      endpointsRemoved: 0,
      endpointsDesired: 20,
    });
    const service_ = service({ trafficDistribution: 'PreferClose' });
    const plan = decide({ ...before, service: service_, pods: pods(10) });
    expect(plan.trafficDistribution).toBe('PreferClose');
    expect(only(plan)).toMatchObject({
      endpointsAdded: 0,
      endpointsRemoved: 10,
      endpointsDesired: 10,
      slicesActual: 1,
      slicesDesired: 1,
      slicesChanged: 1,
    });
  });

  it('takes no notice of ports that come back as null [UT-94 TestReconcileHeadlessServiceNoPorts]', () => {
    const headless = service({ clusterIP: 'None', ports: undefined });
    const before = settled({ service: headless, pods: pods(2) });
    expect(before.slices.map((s) => s.ports)).toEqual([null]);
    expect(hasWork(decide(before))).toBe(false);
  });

  it('lists a pod that has none of the ports, in a slice without ports', () => {
    const named = service({ ports: [{ name: 'http', port: 80, targetPort: 'missing', protocol: 'TCP' }] });
    expect(only(decide({ service: named, pods: [pod(0)] })).create).toMatchObject([
      { ports: [], endpoints: [endpoint(0)] },
    ]);
  });

  it('leaves an empty slice of wanted ports alone when no pod has an address of its type', () => {
    const empty = slice('foo-a', [], { addressType: 'IPv6' });
    const plan = decide({ service: service({ ipFamilies: ['IPv6'] }), pods: [pod(0)], slices: [empty] });
    expect(hasWork(plan)).toBe(false);
  });

  it('drops the second of an endpoint that is listed twice', () => {
    const slices = [slice('foo-a', [endpoint(0)]), slice('foo-b', [endpoint(0), endpoint(1)])];
    const plan = only(decide({ pods: pods(2), slices }));
    expect(plan.update.map((s) => [s.metadata.name, s.endpoints])).toEqual([['foo-b', [endpoint(1)]]]);
    expect(plan.endpointsRemoved).toBe(1);
  });

  it('an endpoint is found again with any order of its addresses', () => {
    const ips = ['10.0.0.2', '10.0.0.1'];
    const before = slice('foo-a', [endpoint(0, { addresses: ips })]);
    expect(hasWork(decide({ pods: [pod(0, { ips })], slices: [before] }))).toBe(false);
  });
});
