import { expect } from 'vitest';
import { outlineOfEndpoints, outlineOfSlices } from '../outline.ts';
import { httpPort, type Scenario } from '../world.ts';

const labels = { app: 'web' };
const selector = labels;
const ports = ['http:8080/TCP'];

export function conditions(scenario: Scenario): void {
  scenario(
    'TestEndpointWithTerminatingPod: a terminating pod leaves Endpoints while it still exists',
    async (w) => {
      await w.service('web', { selector, ports: [httpPort] });
      await w.pod('a', { labels });
      await w.pod('b', { labels });
      await w.eventually(() =>
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['a', 'b'], notReady: [], ports }]),
      );
      await w.terminatePod('a');
      await w.eventually(() =>
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['b'], notReady: [], ports }]),
      );
      expect((await w.api.get('Pod', w.namespace, 'a'))?.metadata.deletionTimestamp).toBeTypeOf('string');
    },
  );

  scenario(
    'TestEndpointSliceTerminating: slices distinguish serving terminating pods from others until they are deleted',
    async (w) => {
      await w.service('web', { selector, ports: [httpPort] });
      await w.pod('a', { labels });
      await w.pod('b', { labels, ready: false });
      const slice = (endpoints: { readonly [pod: string]: string }) => [
        { addressType: 'IPv4', ports, endpoints },
      ];
      await w.eventually(() =>
        expect(outlineOfSlices(w.slices('web'))).toEqual(slice({ a: 'ready serving', b: '' })),
      );
      await w.terminatePod('a');
      await w.terminatePod('b');
      await w.eventually(() =>
        expect(outlineOfSlices(w.slices('web'))).toEqual(
          slice({ a: 'serving terminating', b: 'terminating' }),
        ),
      );
      await w.podStatus('a', { ready: false });
      await w.eventually(() =>
        expect(outlineOfSlices(w.slices('web'))).toEqual(slice({ a: 'terminating', b: 'terminating' })),
      );
      await w.removePod('b');
      await w.eventually(() => expect(outlineOfSlices(w.slices('web'))).toEqual(slice({ a: 'terminating' })));
      await w.removePod('a');
      await w.eventually(() =>
        expect(outlineOfSlices(w.slices('web'))).toEqual([{ addressType: 'IPv4', ports: [], endpoints: {} }]),
      );
    },
  );

  scenario('with publishNotReadyAddresses every pod counts as ready, also a terminating one', async (w) => {
    await w.service('web', { selector, ports: [httpPort], publishNotReadyAddresses: true });
    await w.pod('ready', { labels });
    await w.pod('starting', { labels, ready: false });
    await w.pod('stopping', { labels });
    await w.terminatePod('stopping');
    await w.eventually(() => {
      expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([
        { ready: ['ready', 'starting', 'stopping'], notReady: [], ports },
      ]);
      expect(outlineOfSlices(w.slices('web'))).toEqual([
        {
          addressType: 'IPv4',
          ports,
          endpoints: { ready: 'ready serving', starting: 'ready', stopping: 'ready serving terminating' },
        },
      ]);
    });
    await w.api.patch('Service', w.namespace, 'web', { spec: { publishNotReadyAddresses: false } });
    await w.eventually(() => {
      expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([
        { ready: ['ready'], notReady: ['starting'], ports },
      ]);
      expect(outlineOfSlices(w.slices('web'))).toEqual([
        {
          addressType: 'IPv4',
          ports,
          endpoints: { ready: 'ready serving', starting: '', stopping: 'serving terminating' },
        },
      ]);
    });
  });

  scenario('an endpoint of a slice names its node and the zone of it', async (w) => {
    await w.service('web', { selector, ports: [httpPort] });
    await w.pod('a', { labels, node: w.nodes[0] });
    await w.pod('b', { labels, node: w.nodes[1] });
    await w.eventually(() => {
      const endpoints = w.slices('web').flatMap((s) => s.endpoints ?? []);
      expect(Object.fromEntries(endpoints.map((e) => [e.targetRef?.name, [e.nodeName, e.zone]]))).toEqual({
        a: [w.nodes[0], 'zone-a'],
        b: [w.nodes[1], 'zone-b'],
      });
      expect(
        w
          .endpoints('web')
          ?.subsets?.[0]?.addresses?.map((a) => a.nodeName)
          .toSorted(),
      ).toEqual([...w.nodes].toSorted());
    });
  });

  scenario('a pod on a node that is not known waits outside the slices until it is', async (w) => {
    const node = `late-${w.namespace}`;
    await w.service('web', { selector, ports: [httpPort] });
    await w.pod('a', { labels });
    await w.pod('early', { labels, node });
    await w.eventually(() => {
      expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([
        { ready: ['a', 'early'], notReady: [], ports },
      ]);
      expect(outlineOfSlices(w.slices('web'))).toEqual([
        { addressType: 'IPv4', ports, endpoints: { a: 'ready serving' } },
      ]);
    });
    await w.api.create('Node', '', {
      metadata: { name: node, labels: { 'topology.kubernetes.io/zone': 'zone-c' } },
    });
    await w.eventually(() => {
      const endpoints = w.slices('web').flatMap((s) => s.endpoints ?? []);
      expect(Object.fromEntries(endpoints.map((e) => [e.targetRef?.name, e.zone]))).toEqual({
        a: 'zone-a',
        early: 'zone-c',
      });
    });
  });
}
