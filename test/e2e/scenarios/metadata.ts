import { expect } from 'vitest';
import { httpPort, type Scenario } from '../world.ts';

const headless = 'service.kubernetes.io/headless';
const selector = { app: 'web' };
const ofEndpoints = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
const ofSlice = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };

export function metadata(scenario: Scenario): void {
  scenario('both kinds are written whole: labels, owner, target of each address', async (w) => {
    const service = await w.service(
      'web',
      { selector, ports: [httpPort] },
      { labels: { team: 'red' }, annotations: { note: 'not copied' } },
    );
    const pod = await w.pod('a', { labels: { app: 'web' }, ips: ['10.4.0.1'] });
    const targetRef = { kind: 'Pod', namespace: w.namespace, name: 'a', uid: pod.metadata.uid };
    await w.eventually(() => {
      const endpoints = w.endpoints('web');
      expect(endpoints?.metadata.labels).toEqual({ team: 'red', ...ofEndpoints });
      expect(Object.keys(endpoints?.metadata.annotations ?? {})).toEqual([
        'endpoints.kubernetes.io/last-change-trigger-time',
      ]);
      expect(endpoints?.metadata.ownerReferences).toBeUndefined();
      expect(endpoints?.subsets).toEqual([
        {
          addresses: [{ ip: '10.4.0.1', nodeName: w.nodes[0], targetRef }],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ]);
      expect(w.slices('web')).toHaveLength(1);
      const slice = w.slices('web')[0];
      expect(slice?.metadata.labels).toEqual({
        team: 'red',
        ...ofSlice,
        'kubernetes.io/service-name': 'web',
      });
      expect(slice?.metadata.generateName ?? 'web-').toBe('web-');
      expect(slice?.metadata.name).toMatch(/^web-[a-z0-9]+$/);
      expect(slice?.metadata.ownerReferences).toEqual([
        {
          apiVersion: 'v1',
          kind: 'Service',
          name: 'web',
          uid: service.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      expect(slice?.addressType).toBe('IPv4');
      expect(slice?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
      expect(slice?.endpoints).toEqual([
        {
          addresses: ['10.4.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: w.nodes[0],
          targetRef,
          zone: 'zone-a',
        },
      ]);
    });
  });

  scenario(
    'TestEndpointsControllersLabelSemantics: a service’s labels are those of its endpoints, also when one is swapped for another',
    async (w) => {
      await w.service('web', { selector, ports: [httpPort] }, { labels: { from: 'service', keep: 'same' } });
      await w.pod('a', { labels: { app: 'web' } });
      const expectLabels = (labels: { readonly [name: string]: string }): Promise<void> =>
        w.eventually(() => {
          expect(w.endpoints('web')?.metadata.labels).toEqual({ ...labels, ...ofEndpoints });
          expect(w.slices('web').map((s) => s.metadata.labels)).toEqual([
            { ...labels, ...ofSlice, 'kubernetes.io/service-name': 'web' },
          ]);
        });
      await expectLabels({ from: 'service', keep: 'same' });
      // A merge patch takes a label away with null.
      await w.api.patch('Service', w.namespace, 'web', {
        metadata: { labels: { from: null as unknown as string, to: 'service' } },
      });
      await expectLabels({ to: 'service', keep: 'same' });
      await w.api.patch('Service', w.namespace, 'web', {
        metadata: { labels: { to: null as unknown as string, keep: null as unknown as string } },
      });
      await expectLabels({});
    },
  );

  scenario(
    'TestEndpointsHeadlessLabel: the headless label shows if there is a cluster IP, independent of the service’s own label',
    async (w) => {
      for (const clusterIP of ['None', undefined])
        for (const labels of [{}, { [headless]: 'mine' }]) {
          const name = `${clusterIP ? 'headless' : 'normal'}-${Object.keys(labels).length}`;
          await w.service(name, { selector, ports: [httpPort], ...(clusterIP && { clusterIP }) }, { labels });
        }
      await w.pod('a', { labels: { app: 'web' } });
      await w.eventually(() => {
        for (const [name, label] of Object.entries({
          'headless-0': '',
          'headless-1': '',
          'normal-0': undefined,
          'normal-1': undefined,
        })) {
          expect(w.endpoints(name)?.metadata.labels?.[headless]).toBe(label);
          expect(w.slices(name).map((s) => s.metadata.labels?.[headless])).toEqual([label]);
        }
      });
    },
  );

  scenario(
    'TestExternalNameToClusterIPTransition: an external name has no endpoints, and gets normal ones with a cluster IP',
    async (w) => {
      await w.service('web', {
        type: 'ExternalName',
        externalName: 'example.com',
        selector,
        ports: [httpPort],
      });
      await w.pod('a', { labels: { app: 'web' } });
      await w.settled();
      expect([w.endpoints('web'), ...w.slices('web')]).toEqual([undefined]);
      await w.api.patch('Service', w.namespace, 'web', {
        spec: { type: 'ClusterIP', externalName: null as unknown as string },
      });
      await w.eventually(() => {
        expect(w.endpoints('web')?.subsets).toHaveLength(1);
        expect(w.endpoints('web')?.metadata.labels).toEqual(ofEndpoints);
        expect(w.slices('web').map((s) => s.metadata.labels)).toEqual([
          { ...ofSlice, 'kubernetes.io/service-name': 'web' },
        ]);
      });
    },
  );

  scenario('annotations that a user gave the Endpoints stay when they are written again', async (w) => {
    await w.service('web', { selector, ports: [httpPort] });
    await w.eventually(() => expect(w.endpoints('web')).toBeDefined());
    await w.api.patch('Endpoints', w.namespace, 'web', { metadata: { annotations: { note: 'mine' } } });
    await w.pod('a', { labels: { app: 'web' } });
    await w.eventually(() => expect(w.endpoints('web')?.subsets).toHaveLength(1));
    expect(w.endpoints('web')?.metadata.annotations).toMatchObject({ note: 'mine' });
  });
}
