import { expect } from 'vitest';
import { outlineOfEndpoints, outlineOfSlices } from '../outline.ts';
import { httpPort, type Scenario, type World } from '../world.ts';

const labels = { app: 'web' };
const spec = { selector: labels, ports: [httpPort] };
const ports = ['http:8080/TCP'];
const managedBy = 'endpointslice.kubernetes.io/managed-by';

const expectOnePod = (w: World): Promise<void> =>
  w.eventually(() => {
    expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['a'], notReady: [], ports }]);
    expect(outlineOfSlices(w.slices('web'))).toEqual([
      { addressType: 'IPv4', ports, endpoints: { a: 'ready serving' } },
    ]);
  });

const versions = (w: World, service: string): readonly (string | undefined)[] =>
  [w.endpoints(service), ...w.slices(service)].map(
    (o) => o && `${o.metadata.uid} ${o.metadata.resourceVersion}`,
  );

export function ownership(scenario: Scenario): void {
  scenario('deleted slices and deleted Endpoints are created again', async (w) => {
    await w.service('web', spec);
    await w.pod('a', { labels });
    await expectOnePod(w);
    await w.settled();
    const [endpoints, slice] = [w.endpoints('web')?.metadata.uid, w.slices('web')[0]?.metadata];
    await w.api.delete('EndpointSlice', w.namespace, slice?.name ?? '');
    await w.api.delete('Endpoints', w.namespace, 'web');
    await w.eventually(() => {
      expect([undefined, endpoints]).not.toContain(w.endpoints('web')?.metadata.uid);
      expect([undefined, slice?.uid]).not.toContain(w.slices('web')[0]?.metadata.uid);
    });
    await expectOnePod(w);
  });

  scenario('an edited slice is repaired, with its labels', async (w) => {
    await w.service('web', spec);
    await w.pod('a', { labels });
    await expectOnePod(w);
    const name = w.slices('web')[0]?.metadata.name ?? '';
    await w.api.patch('EndpointSlice', w.namespace, name, {
      endpoints: [{ addresses: ['10.9.9.9'], conditions: { ready: true } }],
    });
    await w.eventually(() =>
      expect(
        w
          .slices('web')
          .flatMap((s) => s.endpoints ?? [])
          .map((e) => e.targetRef?.name),
      ).toEqual(['a']),
    );
    await w.api.patch('EndpointSlice', w.namespace, name, { metadata: { labels: { mine: 'x' } } });
    await w.eventually(() => expect(w.slices('web')[0]?.metadata.labels).toMatchObject({ mine: 'x' }));
    await w.eventually(() => expect(w.slices('web')[0]?.metadata.labels).not.toHaveProperty('mine'));
    await expectOnePod(w);
  });

  scenario('with its service the Endpoints go, and the slices are garbage', async (w) => {
    await w.service('web', spec);
    await w.pod('a', { labels });
    await expectOnePod(w);
    await w.api.delete('Service', w.namespace, 'web');
    await w.eventually(() => expect([w.endpoints('web'), ...w.slices('web')]).toEqual([undefined]));
  });

  scenario('a service made again under the same name has a slice of its own', async (w) => {
    await w.service('web', spec);
    await w.pod('a', { labels });
    await expectOnePod(w);
    await w.api.delete('Service', w.namespace, 'web');
    const again = await w.service('web', spec);
    await w.eventually(() => {
      expect(w.slices('web').flatMap((s) => s.metadata.ownerReferences?.map((o) => o.uid))).toEqual([
        again.metadata.uid,
      ]);
    });
    await expectOnePod(w);
  });

  scenario(
    'a user’s endpoints of a service without selector, or with an external name, stay unchanged',
    async (w) => {
      const subsets = [
        { addresses: [{ ip: '10.8.0.1' }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
      ];
      await w.service('manual', { ports: [httpPort] });
      await w.service('external', { type: 'ExternalName', externalName: 'example.com' });
      for (const name of ['manual', 'external']) {
        await w.api.create('Endpoints', w.namespace, { metadata: { name }, subsets });
        await w.api.create('EndpointSlice', w.namespace, {
          metadata: {
            name: `${name}-mine`,
            labels: { 'kubernetes.io/service-name': name, [managedBy]: 'me' },
          },
          addressType: 'IPv4',
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
          endpoints: [{ addresses: ['10.8.0.1'] }],
        });
      }
      await w.eventually(() => {
        const seen = [...versions(w, 'manual'), ...versions(w, 'external')];
        expect(seen).toHaveLength(4);
        expect(seen).not.toContain(undefined);
      });
      const before = [versions(w, 'manual'), versions(w, 'external')];
      for (const name of ['manual', 'external'])
        await w.api.patch('Service', w.namespace, name, { metadata: { labels: { touched: 'yes' } } });
      await w.settled();
      expect([versions(w, 'manual'), versions(w, 'external')]).toEqual(before);
    },
  );

  scenario('a slice of another owner for a service is neither changed nor counted', async (w) => {
    const { resourceVersion } = (
      await w.api.create('EndpointSlice', w.namespace, {
        metadata: { name: 'mine', labels: { 'kubernetes.io/service-name': 'web', [managedBy]: 'me' } },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        endpoints: [{ addresses: ['10.8.0.1'] }],
      })
    ).metadata;
    await w.service('web', spec);
    await w.pod('a', { labels });
    await w.eventually(() => {
      const [own, foreign] = [true, false].map((ours) =>
        w.slices('web').filter((s) => (s.metadata.name === 'mine') !== ours),
      );
      expect(outlineOfSlices(own ?? [])).toEqual([
        { addressType: 'IPv4', ports, endpoints: { a: 'ready serving' } },
      ]);
      expect(foreign?.map((s) => s.metadata.resourceVersion)).toEqual([resourceVersion]);
    });
  });

  scenario('a service that loses its selector keeps its endpoints as they are', async (w) => {
    await w.service('web', spec);
    await w.pod('a', { labels });
    await expectOnePod(w);
    await w.api.patch('Service', w.namespace, 'web', {
      spec: { selector: null as unknown as Record<string, string> },
    });
    await w.pod('b', { labels });
    await w.settled();
    await expectOnePod(w);
  });
}
