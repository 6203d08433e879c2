import { describe, expect, it } from 'vitest';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import type { EndpointsPlan } from '#shared/controllers/endpoints/plan.ts';
import type { Endpoints, Pod, Service } from '#shared/kube/types.ts';
import { endpoints, pod, service } from '#test/unit/shared/kube/objects.ts';

const managedBy = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
const headless = { 'service.kubernetes.io/headless': '' };

const decide = (s: Service | undefined, pods: readonly Pod[], current?: Endpoints): EndpointsPlan =>
  decideEndpoints({ namespace: 'ns', name: 'svc', service: s, pods, current, triggerTimes: undefined });

/** The object that is written, which must be written by that verb. */
function written(verb: 'create' | 'update', plan: EndpointsPlan): Endpoints {
  if (plan.write?.verb !== verb) throw new Error(`not a ${verb}: ${JSON.stringify(plan)}`);
  return plan.write.object;
}

const at = (name: string, ip = '1.2.3.4') => ({
  ip,
  nodeName: 'node-1',
  targetRef: { kind: 'Pod', namespace: 'ns', name, uid: `uid-${name}` },
});
const tcp = { port: 8080, protocol: 'TCP' };
const foreign = { labels: { foo: 'bar' } };

describe('writes nothing', () => {
  it('for a service without a selector [UT-1 TestSyncEndpointsItemsPreserveNoSelector]', () => {
    const plan = decide(
      service({ selector: undefined }),
      [pod('p')],
      endpoints([{ addresses: [{ ip: '6.7.8.9' }] }], foreign),
    );
    expect(plan).toEqual({ write: undefined, triggerTimes: undefined });
  });

  it.each([[undefined], [[]]])(
    'when there are no pods and subsets are %j [UT-2 TestSyncEndpointsExistingNilSubsets, …EmptySubsets]',
    (subsets) => {
      expect(decide(service(), [], endpoints(subsets)).write).toBeUndefined();
    },
  );

  it('when only versions of pods differ [UT-3 TestSyncEndpointsWithPodResourceVersionUpdateOnly]', () => {
    const ref = (name: string) => ({
      ...at(name),
      targetRef: { ...at(name).targetRef, resourceVersion: '1' },
    });
    const current = endpoints([{ addresses: [ref('a')], ports: [tcp] }]);
    expect(decide(service(), [pod('a', { resourceVersion: '3' })], current).write).toBeUndefined();
  });

  it('when a headless service is labelled already [UT-8 TestSyncEndpointsHeadlessServiceLabel]', () => {
    expect(
      decide(service({ clusterIP: 'None' }), [], endpoints([], { labels: { ...managedBy, ...headless } }))
        .write,
    ).toBeUndefined();
  });

  it('when only the headless label is wrong, as upstream', () => {
    expect(decide(service({ clusterIP: 'None' }), [], endpoints([])).write).toBeUndefined();
    expect(
      decide(service(), [], endpoints([], { labels: { ...managedBy, ...headless } })).write,
    ).toBeUndefined();
  });

  it.each([
    ['selector and ports', {}],
    ['ports', { selector: undefined }],
    ['selector', { ports: undefined }],
    ['neither', { selector: undefined, ports: undefined }],
  ])('for an ExternalName service with %s [UT-9 TestSyncServiceExternalNameType]', (_, spec) => {
    const plan = decide(
      service({ type: 'ExternalName', ...spec }),
      [pod('p')],
      endpoints([{ addresses: [{ ip: '6.7.8.9' }] }]),
    );
    expect(plan.write).toBeUndefined();
  });

  it('when everything is there [UT-11 TestSyncEndpointsItemsPreexistingIdentical]', () => {
    expect(
      decide(service(), [pod('p')], endpoints([{ addresses: [at('p')], ports: [tcp] }])).write,
    ).toBeUndefined();
  });

  it('when everything is there in another order [UT-11 TestSyncEndpointsItemsPreexistingIdenticalUnsorted]', () => {
    const current = endpoints([
      { addresses: [at('b', '1.2.3.5')], ports: [tcp] },
      { addresses: [at('a')], ports: [tcp] },
    ]);
    expect(decide(service(), [pod('a'), pod('b', { ips: ['1.2.3.5'] })], current).write).toBeUndefined();
  });

  it('keeps the trigger times of a service that it passes over', () => {
    const triggerTimes = { service: 1, pods: new Map([['p', 2]]) };
    const input = { namespace: 'ns', name: 'svc', pods: [], current: undefined, triggerTimes };
    expect(decideEndpoints({ ...input, service: service({ selector: undefined }) }).triggerTimes).toBe(
      triggerTimes,
    );
    expect(decideEndpoints({ ...input, service: undefined }).triggerTimes).toBeUndefined();
  });
});

describe('a missing service', () => {
  it('a missing service has its Endpoints deleted, known or not [UT-22 TestSyncEndpointsServiceNotFound]', () => {
    const write = { verb: 'delete', namespace: 'ns', name: 'svc' };
    expect(decide(undefined, [], endpoints([]))).toEqual({ write, triggerTimes: undefined });
    expect(decide(undefined, []).write).toEqual(write);
  });

  it('a missing service that comes back has its Endpoints created [UT-26 TestMultipleServiceChanges]', () => {
    expect(written('create', decide(service(), [pod('p')])).subsets).toEqual([
      { addresses: [at('p')], ports: [tcp] },
    ]);
  });
});

describe('a create', () => {
  it('a create is made without pods too [UT-4 TestSyncEndpointsNewNoSubsets]', () => {
    expect(written('create', decide(service(), []))).toEqual({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        name: 'svc',
        namespace: 'ns',
        labels: managedBy,
        annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2018-01-01T00:00:00Z' },
      },
    });
  });

  it('a create has all pods and ports [UT-12 TestSyncEndpointsItems]', () => {
    const ports = [
      { name: 'port0', port: 80, protocol: 'TCP', targetPort: 8080 },
      { name: 'port1', port: 88, protocol: 'TCP', targetPort: 8088 },
    ];
    const pods = [pod('b', { ips: ['1.2.3.5'] }), pod('a'), pod('c', { ips: ['1.2.3.6'] })];
    expect(written('create', decide(service({ ports }), pods)).subsets).toEqual([
      {
        addresses: [at('a'), at('b', '1.2.3.5'), at('c', '1.2.3.6')],
        ports: [
          { name: 'port1', port: 8088, protocol: 'TCP' },
          { name: 'port0', port: 8080, protocol: 'TCP' },
        ],
      },
    ]);
  });

  it('a create has the labels of the service [UT-13 TestSyncEndpointsItemsWithLabels]', () => {
    expect(written('create', decide(service({}, { foo: 'bar' }), [])).metadata.labels).toEqual({
      foo: 'bar',
      ...managedBy,
    });
  });

  it('a create of a headless service without ports has addresses and no ports [UT-17 TestSyncEndpointsHeadlessWithoutPort]', () => {
    const object = written('create', decide(service({ clusterIP: 'None', ports: undefined }), [pod('p')]));
    expect(object.subsets).toEqual([{ addresses: [at('p')] }]);
    expect(object.metadata.labels).toEqual({ ...managedBy, ...headless });
  });

  it('a create of another service without ports has nothing', () => {
    expect(written('create', decide(service({ ports: [] }), [pod('p')])).subsets).toBeUndefined();
    expect(
      written('create', decide(service({ ports: [], clusterIP: '' }), [pod('p')])).subsets,
    ).toBeUndefined();
  });
});

describe('an update', () => {
  it.each(['TCP', 'UDP', 'SCTP'])(
    'an update replaces the subsets by the pod under %s [UT-6 TestSyncEndpointsProtocol…]',
    (protocol) => {
      const current = endpoints(
        [{ addresses: [{ ip: '6.7.8.9' }], ports: [{ port: 1000, protocol }] }],
        foreign,
      );
      const object = written(
        'update',
        decide(
          service({ ports: [{ port: 80, protocol, targetPort: 8080 }] }, { foo: 'bar' }),
          [pod('p')],
          current,
        ),
      );
      expect(object.subsets).toEqual([{ addresses: [at('p')], ports: [{ port: 8080, protocol }] }]);
      expect(object.metadata.labels).toEqual({ foo: 'bar', ...managedBy });
    },
  );

  it('an update has one subset for two protocols, in the order of hashes [UT-7 TestSyncEndpointsProtocolMultiProtocolSamePort]', () => {
    const ports = ['TCP', 'UDP'].map((protocol) => ({
      name: `${protocol.toLowerCase()}-example`,
      port: 80,
      protocol,
      targetPort: 8080,
    }));
    const object = written('create', decide(service({ ports }), [pod('p')]));
    expect(object.subsets).toHaveLength(1);
    expect(object.subsets?.[0]?.ports).toHaveLength(2);
    const plain = written(
      'create',
      decide(service({ ports: ports.map(({ name: _, ...port }) => port) }), [pod('p')]),
    );
    expect(plain.subsets?.[0]?.ports?.map((p) => p.protocol)).toEqual(['UDP', 'TCP']);
  });

  it('an update separates ready and other pods, with any empty selector [UT-10 TestSyncEndpointsItemsEmptySelectorSelectsAll…]', () => {
    const all = service({ selector: {} });
    const [ready, other] = [pod('a'), pod('b', { ips: ['1.2.3.5'], ready: false })];
    const b = at('b', '1.2.3.5');
    expect(written('update', decide(all, [ready], endpoints([]))).subsets).toEqual([
      { addresses: [at('a')], ports: [tcp] },
    ]);
    expect(written('update', decide(all, [other], endpoints([]))).subsets).toEqual([
      { notReadyAddresses: [b], ports: [tcp] },
    ]);
    expect(written('update', decide(all, [other, ready], endpoints([]))).subsets).toEqual([
      { addresses: [at('a')], notReadyAddresses: [b], ports: [tcp] },
    ]);
  });

  it('keeps all else of the object [UT-11 TestSyncEndpointsItemsPreexisting]', () => {
    const metadata = {
      finalizers: ['f'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }],
      annotations: { mine: 'kept' },
    };
    const current = endpoints([{ addresses: [{ ip: '6.7.8.9' }], ports: [{ port: 1000 }] }], metadata);
    const object = written('update', decide(service(), [pod('p')], current));
    expect(object.metadata).toMatchObject({ uid: 'ep-uid', resourceVersion: '1', ...metadata });
    expect(current.metadata.annotations).toEqual({ mine: 'kept' });
  });

  it('replaces all labels [UT-13 TestSyncEndpointsItemsPreexistingLabelsChange]', () => {
    const current = endpoints([{ addresses: [at('p')], ports: [tcp] }], {
      labels: { ...managedBy, foo: 'bar', user: 'own' },
    });
    const object = written('update', decide(service({}, { baz: 'blah' }), [pod('p')], current));
    expect(object.metadata.labels).toEqual({ baz: 'blah', ...managedBy });
  });

  it.each([
    ['it is not ours', { foo: 'bar' }],
    ['somebody else manages it', { ...managedBy, foo: 'bar', 'endpoints.kubernetes.io/managed-by': 'other' }],
    ['a label is missing', managedBy],
    ['a label is too many', { ...managedBy, foo: 'bar', x: '' }],
    ['a label is another', { ...managedBy, foo: 'baz' }],
  ])('an update is made when %s', (_, labels) => {
    written('update', decide(service({}, { foo: 'bar' }), [], endpoints([], { labels })));
  });

  it('makes a headless service’s Endpoints headless, and leaves the service as it was [UT-15 TestSyncEndpointsHeadlessService]', () => {
    const s = service({ clusterIP: 'None', ports: [] }, { a: 'b' });
    const before = structuredClone(s);
    const object = written('update', decide(s, [pod('p')], endpoints([{ addresses: [{ ip: '6.7.8.9' }] }])));
    expect(object.subsets).toEqual([{ addresses: [at('p')] }]);
    expect(object.metadata.labels).toEqual({ a: 'b', ...managedBy, ...headless });
    expect(s).toEqual(before);
  });

  it('takes the headless label away from a service that is not', () => {
    const object = written(
      'update',
      decide(service(), [pod('p')], endpoints([], { labels: { ...managedBy, ...headless } })),
    );
    expect(object.metadata.labels).toEqual(managedBy);
  });

  it.each([
    ['Never', 'Failed'],
    ['Never', 'Succeeded'],
    ['OnFailure', 'Succeeded'],
  ])(
    'drops a pod that is restarted %s and has %s [UT-16 TestSyncEndpointsItemsExcludeNotReadyPods…]',
    (restartPolicy, phase) => {
      const ended = pod('p', { phase, ready: false, spec: { restartPolicy, containers: [] } });
      expect(
        written('update', decide(service(), [ended], endpoints([{ addresses: [at('p')], ports: [tcp] }])))
          .subsets,
      ).toBeUndefined();
    },
  );

  it('follows a pod that is ready, then is not, then is [UT-27 TestMultiplePodChanges]', () => {
    const ready = written('update', decide(service(), [pod('p')], endpoints([])));
    const notReady = written('update', decide(service(), [pod('p', { ready: false })], ready));
    expect(notReady.subsets).toEqual([{ notReadyAddresses: [at('p')], ports: [tcp] }]);
    expect(written('update', decide(service(), [pod('p')], notReady)).subsets).toEqual(ready.subsets);
  });
});

describe('ports', () => {
  it.each([[undefined], ['http'], ['']])(
    'carry the appProtocol %j [UT-25 TestEndpointPortFromServicePort]',
    (appProtocol) => {
      const ports = [
        {
          name: 'a',
          port: 80,
          protocol: 'TCP',
          targetPort: 8080,
          ...(appProtocol !== undefined && { appProtocol }),
        },
      ];
      const port = written('create', decide(service({ ports }), [pod('p')])).subsets?.[0]?.ports?.[0];
      expect(port).toEqual({
        name: 'a',
        port: 8080,
        protocol: 'TCP',
        ...(appProtocol !== undefined && { appProtocol }),
      });
      expect(port && 'appProtocol' in port).toBe(appProtocol !== undefined);
    },
  );

  it('lead each to the pods that have them [UT-31 TestSyncEndpointsAddDeletePorts]', () => {
    const named = (name: string, containerPort: number) => ({
      spec: {
        nodeName: 'node-1',
        containers: [{ name: 'c', ports: [{ name, containerPort, protocol: 'TCP' }] }],
      },
    });
    const servicePort = (name: string, port: number) => ({ name, port, protocol: 'TCP', targetPort: name });
    const pods = [pod('a', named('foo', 8080)), pod('b', { ...named('bar', 8081), ips: ['1.2.3.5'] })];
    const foo = { addresses: [at('a')], ports: [{ name: 'foo', port: 8080, protocol: 'TCP' }] };
    const bar = { addresses: [at('b', '1.2.3.5')], ports: [{ name: 'bar', port: 8081, protocol: 'TCP' }] };

    const one = written('create', decide(service({ ports: [servicePort('foo', 80)] }), pods));
    expect(one.subsets).toEqual([foo]);
    const current = { ...one, metadata: { ...one.metadata, resourceVersion: '1' } };
    const two = written(
      'update',
      decide(service({ ports: [servicePort('foo', 80), servicePort('bar', 81)] }), pods, current),
    );
    expect(two.subsets).toHaveLength(2);
    expect(two.subsets).toEqual(expect.arrayContaining([foo, bar]));
    expect(
      written('update', decide(service({ ports: [servicePort('bar', 81)] }), pods, two)).subsets,
    ).toEqual([bar]);
  });

  it('ports that no pod has lead nowhere', () => {
    const ports = [{ port: 80, protocol: 'TCP', targetPort: 'nobody' }];
    expect(written('create', decide(service({ ports }), [pod('p')])).subsets).toBeUndefined();
  });
});

describe('pods by state [UT-28 TestSyncServiceAddresses]', () => {
  const states = ['Running', 'Unknown', 'Pending', 'Failed', 'Succeeded'].flatMap((phase) =>
    [true, false].flatMap((ready) =>
      [true, false].flatMap((deleted) =>
        [true, false].map((publish) => ({ phase, ready, deleted, publish })),
      ),
    ),
  );
  it.each(states)(
    'phase $phase, ready $ready, terminating $deleted, publishNotReadyAddresses $publish',
    ({ phase, ready, deleted, publish }) => {
      const object = written(
        'create',
        decide(service({ publishNotReadyAddresses: publish }), [pod('p', { phase, ready, deleted })]),
      );
      const listed = phase !== 'Failed' && phase !== 'Succeeded' && (publish || !deleted);
      const address = { [publish || ready ? 'addresses' : 'notReadyAddresses']: [at('p')] };
      expect(object.subsets ?? []).toEqual(listed ? [{ ...address, ports: [tcp] }] : []);
    },
  );
});
