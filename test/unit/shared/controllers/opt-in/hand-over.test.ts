import { describe, expect, it } from 'vitest';
import { type HandOverInput, handOver } from '#shared/controllers/opt-in/hand-over.ts';
import {
  annotationLeader,
  labelEndpointsManagedBy,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';

function slice(name: string, managedBy: string | undefined, ...addresses: readonly string[]): EndpointSlice {
  return {
    metadata: {
      name,
      namespace: 'ns',
      labels: managedBy === undefined ? {} : { [labelSliceManagedBy]: managedBy },
    },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}
/** Each address belongs to a pod whose uid contains the address. */
const readyPods = (...addresses: readonly string[]) =>
  addresses.map((address) => ({ address, port: 'none', uid: `uid-${address}` }));
const notReady = (of: EndpointSlice): EndpointSlice => ({
  ...of,
  endpoints: (of.endpoints ?? []).map((e) => ({ ...e, conditions: { ready: false } })),
});
const deleted = (of: EndpointSlice): EndpointSlice => ({
  ...of,
  metadata: { ...of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
});

const pod = { ip: '10.0.0.1', targetRef: { kind: 'Pod', namespace: 'ns', name: 'a' } };
const endpoints = (metadata: Partial<Endpoints['metadata']> = {}, address: object = pod): Endpoints => ({
  metadata: { name: 'svc', namespace: 'ns', ...metadata },
  subsets: [{ addresses: [address as { ip: string }] }],
});
const labelled = endpoints(
  { labels: { [labelEndpointsManagedBy]: 'endpoint-controller' } },
  { ip: '10.0.0.9' },
);

const ours = slice('ours', optInManagedBy, '10.0.0.1', '10.0.0.2');
const theirs = slice('theirs', slicesManagedBy, '10.0.0.1', '10.0.0.2');
const byHand = slice('by-hand', undefined, '192.0.2.1');
const mirrored = slice('mirrored', 'endpointslicemirroring-controller.k8s.io', '10.0.0.1');
const all = [ours, theirs, byHand, mirrored];

/** managedFields of one manager. */
const by = (manager: string, time = '01:00', fieldsV1: object = { 'f:subsets': {} }) => [
  { manager, time: `2026-01-01T00:${time}Z`, operation: 'Update', fieldsV1 },
];

const decide = (input: Partial<HandOverInput>) =>
  handOver({
    writer: 'opt-in',
    slices: all,
    endpoints: labelled,
    ready: readyPods('10.0.0.1', '10.0.0.2'),
    ...input,
  });
const nothing = { withdrawn: [], leftovers: { endpoints: undefined, slices: [] }, isWaiting: false };

describe('a service that opts in', () => {
  it('a service loses leftovers of the built-in controllers, and no object of other writers', () => {
    expect(decide({})).toEqual({ ...nothing, leftovers: { endpoints: labelled, slices: [theirs] } });
  });

  it.each([
    [
      'lack an address, which another client has taken out',
      [slice('ours', optInManagedBy, '10.0.0.1'), theirs],
    ],
    ['are gone', [theirs]],
    ['have it not ready', [notReady(ours), theirs]],
  ])('keeps all of it while ours %s', (_, slices) => {
    expect(decide({ slices })).toEqual({ ...nothing, isWaiting: true });
  });

  it('loses addresses that no ready pod has any more, though ours do not have them', () => {
    expect(
      decide({ slices: [slice('ours', optInManagedBy, '10.0.0.1'), theirs], ready: readyPods('10.0.0.1') })
        .leftovers.slices,
    ).toEqual([theirs]);
  });

  it.each([
    ['made by hand', endpoints({ managedFields: by('kubectl-create') }, { ip: '192.0.2.1' })],
    ['of a writer that is not known', endpoints()],
    ['of another controller, which point at Pods', endpoints({ managedFields: by('Patroni') })],
    [
      'that another controller took over from the built-in one',
      endpoints({ managedFields: [...by('kube-controller-manager', '00:00'), ...by('Patroni')] }),
    ],
    [
      'that another controller writes under the built-in label',
      { ...labelled, metadata: { ...labelled.metadata, managedFields: by('Patroni') } },
    ],
    [
      'of which another manager wrote the labels alone',
      endpoints({ managedFields: by('kube-controller-manager', '00:00', { 'f:metadata': {} }) }),
    ],
    ['of another manager', endpoints({ labels: { [labelEndpointsManagedBy]: 'somebody' } })],
    [
      'that hold a leader election',
      endpoints({ annotations: { [annotationLeader]: '{}' }, managedFields: by('kube-controller-manager') }),
    ],
    [
      'on their way out',
      endpoints({
        labels: { [labelEndpointsManagedBy]: 'endpoint-controller' },
        deletionTimestamp: '2026-01-01T00:00:00Z',
      }),
    ],
  ])('keeps Endpoints %s', (_, e) => {
    expect(decide({ endpoints: e }).leftovers.endpoints).toBeUndefined();
  });

  it('a service that opts in waits until ours serve every ready address before its Endpoints go, whose mirror serves them', () => {
    expect(decide({ slices: [slice('ours', optInManagedBy, '10.0.0.1'), mirrored] })).toEqual({
      ...nothing,
      isWaiting: true,
    });
  });

  it.each(['kube-controller-manager', 'k3s', 'fleet-endpoints-other'])(
    'a service that opts in loses Endpoints without a label that %s wrote last, as before Kubernetes 1.33',
    (manager) => {
      const e = endpoints({ managedFields: [...by('kubectl-edit', '00:00'), ...by(manager)] });
      expect(decide({ endpoints: e }).leftovers.endpoints).toEqual(e);
    },
  );

  it('a service that opts in loses a built-in slice that a person edited, and keeps a slice that another controller updates', () => {
    const writtenBy = (manager: string) => ({
      ...theirs,
      metadata: { ...theirs.metadata, managedFields: by(manager, '01:00', { 'f:endpoints': {} }) },
    });
    expect(decide({ slices: [ours, writtenBy('kubectl-edit')] }).leftovers.slices).toHaveLength(1);
    expect(decide({ slices: [ours, writtenBy('mesh-operator')] }).leftovers.slices).toEqual([]);
  });
});

describe('a service that has its selector back', () => {
  it('loses our slices once the others serve every ready address', () => {
    expect(decide({ writer: 'built-in' })).toEqual({ ...nothing, withdrawn: [ours] });
  });

  it.each([
    ['are not there yet', [ours]],
    ['lack an address', [ours, slice('theirs', slicesManagedBy, '10.0.0.1')]],
    ['have it not ready', [ours, notReady(theirs)]],
    ['are on their way out', [ours, deleted(theirs)]],
    ['are made by hand', [ours, slice('by-hand', undefined, '10.0.0.1', '10.0.0.2')]],
  ])('keeps ours while the others %s', (_, slices) => {
    expect(decide({ writer: 'built-in', slices })).toEqual({ ...nothing, isWaiting: true });
  });

  it.each([
    ['another number', [{ name: 'http', port: 9090, protocol: 'TCP' }]],
    ['another name', [{ name: 'web', port: 8080, protocol: 'TCP' }]],
    ['another protocol', [{ name: 'http', port: 8080, protocol: 'UDP' }]],
    ['no port', null],
  ])(
    'a service that has its selector back keeps ours while the others serve its addresses on %s',
    (_, ports) => {
      const http = [{ name: 'http', port: 8080, protocol: 'TCP' }];
      const ready = [{ address: '10.0.0.1', port: 'http 8080/TCP', uid: 'uid-10.0.0.1' }];
      const back = (ports: EndpointSlice['ports']) =>
        decide({
          writer: 'built-in',
          slices: [
            { ...ours, ports: http },
            { ...theirs, ports },
          ],
          ready,
        } as Partial<HandOverInput>);
      expect(back(ports as EndpointSlice['ports'])).toEqual({ ...nothing, isWaiting: true });
      expect(
        back([{ ...http[0], appProtocol: 'kubernetes.io/h2c' }] as EndpointSlice['ports']).withdrawn,
      ).toHaveLength(1);
    },
  );

  it('a service that has its selector back keeps ours until the others have a slice, though no address is ready', () => {
    expect(decide({ writer: 'built-in', slices: [ours], ready: readyPods() })).toEqual({
      ...nothing,
      isWaiting: true,
    });
    expect(
      decide({ writer: 'built-in', slices: [ours, slice('theirs', slicesManagedBy)], ready: readyPods() })
        .withdrawn,
    ).toEqual([ours]);
  });

  it('a service that has its selector back keeps ours while an address is ready that neither writer serves', () => {
    const ready = readyPods('10.0.0.1', '10.0.0.3');
    expect(decide({ writer: 'built-in', slices: [ours, theirs], ready })).toEqual({
      ...nothing,
      isWaiting: true,
    });
  });

  it('a service that has its selector back does not wait for addresses that its own selector does not make ready', () => {
    const less = slice('theirs', slicesManagedBy, '10.0.0.1');
    expect(
      decide({ writer: 'built-in', slices: [ours, less], ready: readyPods('10.0.0.1') }).withdrawn,
    ).toEqual([ours]);
  });

  it.each([
    [
      'does not wait for a pod that ends, which the built-in controllers know before us',
      'uid-10.0.0.2',
      { withdrawn: [ours] },
    ],
    ['waits for a ready pod that has the address of a pod that ends', 'another', { isWaiting: true }],
  ])('a service that has its selector back %s', (_, uid, expected) => {
    const ending = {
      addresses: ['10.0.0.2'],
      conditions: { ready: false, serving: true, terminating: true },
      targetRef: { kind: 'Pod', uid },
    };
    const first = slice('theirs', slicesManagedBy, '10.0.0.1');
    const slices = [ours, { ...first, endpoints: [...(first.endpoints ?? []), ending] }];
    expect(decide({ writer: 'built-in', slices })).toEqual({ ...nothing, ...expected });
  });

  it('a service that has its selector back has nothing to wait for where we have no slices', () => {
    expect(decide({ writer: 'built-in', slices: [byHand] })).toEqual(nothing);
  });
});

it('a service that no longer opts in, without a selector, loses only our slices', () => {
  expect(decide({ writer: 'none' })).toEqual({ ...nothing, withdrawn: [ours] });
});
