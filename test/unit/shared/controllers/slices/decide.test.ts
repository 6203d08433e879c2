import { describe, expect, it } from 'vitest';
import {
  annotationTriggerTime,
  labelServiceName,
  labelSliceManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { hasWork } from '#test/support/slices-work.ts';
import {
  carryOut,
  decide,
  endpoint,
  httpPorts,
  input,
  managed,
  only,
  pod,
  pods,
  service,
  slice,
  writes,
} from './fixtures.ts';

const state = {
  triggerTimes: { service: 1, pods: new Map() },
  hints: { populated: true, zones: { IPv4: { a: 1 } } },
};

describe('decideSlices', () => {
  it('a service without a selector stays unchanged, with its cached state [UT-60 TestSyncServiceNoSelector]', () => {
    const plan = decide({
      ...state,
      service: service({ selector: undefined }),
      slices: [slice('foo-a', [endpoint(1)])],
    });
    expect(plan).toMatchObject({ addressTypes: [], unsupported: [], ...state });
  });

  it.each([
    ['with a selector', { app: 'a' }],
    ['without a selector', undefined],
  ])('leaves an ExternalName service alone, %s [UT-60 TestServiceExternalNameTypeSync]', (_, selector) => {
    const spec = { type: 'ExternalName', externalName: 'example.com', selector };
    expect(decide({ service: service(spec), pods: pods(2) })).toMatchObject({ addressTypes: [] });
    expect(decide({ service: service(spec), slices: [slice('foo-a', [endpoint(1)])] })).toMatchObject({
      unsupported: [],
    });
  });

  it('creates nothing for a service that is being deleted [UT-60 TestSyncServicePendingDeletion]', () => {
    const plan = decide({ service: service({}, { deletionTimestamp: '2024-01-01T00:00:00Z' }) });
    expect(hasWork(plan)).toBe(false);
    expect(only(plan)).toMatchObject({ create: [], slicesChanged: 1 });
  });

  it('creates a placeholder with the trigger time for a service without pods [UT-61 TestSyncServiceWithSelector]', () => {
    const plan = decide();
    expect(hasWork(plan)).toBe(true);
    expect(only(plan).create).toEqual([
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          generateName: 'foo-',
          namespace: 'ns',
          labels: managed,
          annotations: { [annotationTriggerTime]: '2024-01-01T00:00:00Z' },
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'Service',
              name: 'foo',
              uid: 'service-uid',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        addressType: 'IPv4',
        endpoints: [],
        ports: [],
      },
    ]);
  });

  it('writes the ports of an existing slice in the order of their hashes, whatever order they have on the server [ES-27]', () => {
    const ports = ['a', 'b', 'c'].map((name, i) => ({
      name,
      port: 80 + i,
      targetPort: 80 + i,
      protocol: 'TCP' as const,
    }));
    const svc = service({ ports });
    const [made] = only(decide({ service: svc, pods: [pod(1)] })).create;
    const stored = slice('foo-a', [endpoint(1)], { ports: [...(made?.ports ?? [])].reverse() });
    const [updated] = only(decide({ service: svc, pods: pods(2), slices: [stored] })).update;
    expect(updated?.ports).toEqual(made?.ports);
    expect(updated?.ports).not.toEqual(stored.ports);
  });

  it('forgets a service that does not exist and calls nothing [UT-61 TestSyncServiceMissing]', () => {
    const plan = decide({ ...state, service: undefined, slices: [slice('foo-a', [endpoint(1)])] });
    expect(plan).toMatchObject({
      addressTypes: [],
      unsupported: [],
      triggerTimes: undefined,
      hints: undefined,
    });
  });

  it('lists the pods that it is given and no others [UT-62 TestSyncServicePodSelection]', () => {
    const created = only(decide({ pods: [pod(1)] })).create;
    expect(created.map((s) => s.endpoints)).toEqual([[endpoint(1)]]);
  });

  it('decideSlices does not count a slice that is pending deletion [UT-62 TestSyncServiceEndpointSlicePendingDeletion]', () => {
    const going = slice('foo-a', [endpoint(1)], { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' } });
    expect(writes(decide({ pods: [pod(1)], slices: [going] }))).toEqual([1, 0, 0]);
  });

  it('keeps the order of the slices that are not pending deletion [UT-69 Test_dropEndpointSlicesPendingDeletion]', () => {
    const names = ['foo-a', 'foo-b', 'foo-c', 'foo-d'];
    const slices = names.map((name, i) =>
      slice(name, [endpoint(i)], {
        metadata: i % 2 ? { deletionTimestamp: '2024-01-01T00:00:00Z' } : { ownerReferences: [] },
      }),
    );
    expect(only(decide({ slices })).delete.map((s) => s.metadata.name)).toEqual(['foo-a', 'foo-c']);
  });

  it('makes one of two slices without pods the placeholder and deletes the other [UT-63 TestSyncServiceEndpointSliceLabelSelection]', () => {
    const plan = decide({ slices: [slice('foo-a', [endpoint(1)]), slice('foo-b', [endpoint(2)])] });
    expect(only(plan).update).toMatchObject([
      { metadata: { name: 'foo-a', uid: 'uid-foo-a', resourceVersion: '1' }, endpoints: [], ports: [] },
    ]);
    expect(only(plan).delete.map((s) => s.metadata.name)).toEqual(['foo-b']);
  });

  describe('[UT-65 TestSyncService]', () => {
    const dual = { ips: ['10.0.0.1', 'fd08::5678:0000:0000:9abc:def0'] };

    it.each([
      ['IPv4', '10.0.0.1'],
      ['IPv6', 'fd08::5678:0:0:9abc:def0'],
    ])('takes the %s addresses of dual-stack pods', (family, address) => {
      const [created] = only(
        decide({ service: service({ ipFamilies: [family] }), pods: [pod(1, dual)] }),
      ).create;
      expect(created).toMatchObject({ addressType: family, endpoints: [{ addresses: [address] }] });
    });

    it.each([
      ['ready', true, { ready: false, serving: true, terminating: true }],
      ['not ready', false, { ready: false, serving: false, terminating: true }],
    ])('lists a terminating pod that is %s, as not ready', (_, ready, conditions) => {
      const [created] = only(decide({ pods: [pod(1, { ready, deleted: true })] })).create;
      expect(created?.endpoints).toMatchObject([{ conditions }]);
    });

    it('a service does not list a completed pod beside a ready one with its address', () => {
      const [created] = only(
        decide({ pods: [pod(1, { ips: ['10.0.0.1'] }), pod(2, { ips: ['10.0.0.1'], phase: 'Succeeded' })] }),
      ).create;
      expect(created?.endpoints?.map((e) => e.targetRef?.name)).toEqual(['pod0001']);
    });

    it('lists two ready pods with the same address', () => {
      const [created] = only(
        decide({ pods: [pod(1, { ips: ['10.0.0.1'] }), pod(2, { ips: ['10.0.0.1'] })] }),
      ).create;
      expect(created?.endpoints?.map((e) => e.targetRef?.name)).toEqual(['pod0001', 'pod0002']);
    });
  });

  it('a run writes nothing if the outputs are right, with empty lists as null or missing', () => {
    const settled = slice('foo-a', [endpoint(1)]);
    const plan = decide({ pods: [pod(1)], slices: [settled] });
    expect(hasWork(plan)).toBe(false);
    expect(only(plan).slicesChanged).toBe(0);
    const lists = { endpoints: null, ports: undefined } as unknown as { endpoints: []; ports: [] };
    expect(hasWork(decide({ slices: [{ ...slice('foo-a', []), ...lists }] }))).toBe(false);
  });

  it('deletes slices of address types that the service does not have, and drops their hints', () => {
    const fqdn = slice('foo-f', [], { addressType: 'FQDN', metadata: { ownerReferences: [] } });
    const v6 = slice('foo-6', [], { addressType: 'IPv6' });
    const plan = decide({ slices: [v6, fqdn], hints: { populated: true, zones: { IPv6: { a: 1 } } } });
    expect(plan.unsupported.map((s) => s.metadata.name)).toEqual(['foo-6', 'foo-f']);
    expect(plan.hints).toBeUndefined();
    expect(only(plan).events).toEqual([]);
  });

  it('the metrics have these label values', () => {
    const labels = (spec: object, annotations = {}) => {
      const { topology, trafficDistribution } = decide({ service: service(spec, { annotations }) });
      return [topology, trafficDistribution];
    };
    const auto = { 'service.kubernetes.io/topology-mode': 'Auto' };
    expect(labels({})).toEqual(['Disabled', '']);
    expect(labels({ trafficDistribution: 'PreferClose' })).toEqual(['Disabled', 'PreferClose']);
    expect(labels({ trafficDistribution: 'Whatever' })).toEqual(['Disabled', '']);
    expect(labels({ trafficDistribution: 'PreferClose' }, auto)).toEqual(['Auto', '']);
  });

  it('takes the trigger time off an updated slice when there is none, and keeps other annotations', () => {
    const before = slice('foo-a', [endpoint(1)], {
      metadata: { annotations: { [annotationTriggerTime]: '2020-01-01T00:00:00Z', mine: 'x' } },
    });
    const plan = decide({
      pods: [],
      slices: [before, slice('foo-b', [endpoint(2)])],
      triggerTimes: { service: Date.parse('2024-01-01T00:00:00Z'), pods: new Map() },
    });
    expect(only(plan).update[0]?.metadata.annotations).toBeUndefined();
    const kept = decide({
      pods: [pod(1), pod(2)],
      slices: [before],
      triggerTimes: { service: Date.parse('2024-01-01T00:00:00Z'), pods: new Map() },
    });
    expect(only(kept).update[0]?.metadata.annotations).toEqual({ mine: 'x' });
  });

  it('settles: a plan that was carried out leaves nothing to do', () => {
    const before = input({
      service: service({ ipFamilies: ['IPv4', 'IPv6'] }),
      pods: pods(250, { ips: undefined }),
    });
    const after = carryOut(before, decide(before));
    expect(after.slices.map((s) => s.metadata.labels)).toEqual(
      Array(4).fill({ [labelServiceName]: 'foo', [labelSliceManagedBy]: slicesManagedBy }),
    );
    expect(after.slices.filter((s) => s.addressType === 'IPv4').map((s) => s.ports)).toEqual(
      Array(3).fill(httpPorts),
    );
    expect(hasWork(decide(after))).toBe(false);
  });
});
