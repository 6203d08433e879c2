import { expect } from 'vitest';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import { versions } from '#test/clusterset/multi-cluster/cluster-world.ts';
import type { Scenario } from '#test/clusterset/multi-cluster/fleet.ts';

export function ownership(scenario: Scenario): void {
  scenario(
    'a user’s changes of an import, its derived Service or its slices are reverted, and a user’s annotation stays (G 27)',
    async ({ of }) => {
      await of('b').exported(['10.2.0.1']);
      const { api, namespace, eventually, seen } = of('a');
      const derived = derivedName(namespace, 'web');
      const isRight = () =>
        eventually(async () => {
          const [service, serviceImport] = [await of('a').derived(), await of('a').import()];
          expect(service?.spec).toMatchObject({
            ports: [{ name: 'http', port: 80, targetPort: 80 }],
            type: 'ClusterIP',
          });
          expect(service?.spec?.selector).toBeUndefined();
          expect(serviceImport?.spec).toMatchObject({
            ips: service?.spec?.clusterIPs,
            ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
          });
          expect(seen()).toEqual(['b 10.2.0.1 ready']);
        });
      await isRight();
      await api.patch('ServiceImport', namespace, 'web', {
        spec: { ports: [] },
        metadata: { annotations: { note: 'mine' } },
      });
      await isRight();
      expect((await of('a').import())?.metadata.annotations).toHaveProperty('note');
      await api.patch('Service', namespace, derived, {
        spec: { selector: { app: 'other' }, ports: [{ name: 'http', port: 81 }] },
      });
      await isRight();
      await api.delete('Service', namespace, derived);
      await isRight();
      await api.delete('ServiceImport', namespace, 'web');
      await isRight();
      const slice = () => of('a').imported()[0]?.metadata.name ?? '';
      await api.patch('EndpointSlice', namespace, slice(), { endpoints: [] });
      await isRight();
      await api.delete('EndpointSlice', namespace, slice());
      await isRight();
    },
  );

  scenario(
    'an import of another implementation and a user’s own Service under the derived name stay byte for byte (G 27)',
    async ({ of }) => {
      const { namespace } = of('a');
      const theirs = await of('a').api.create('ServiceImport', namespace, {
        metadata: { name: 'web' },
        spec: { type: 'ClusterSetIP', ports: [] },
      });
      const users = await of('c').service(derivedName(namespace, 'web'), {
        selector: { app: 'mine' },
        ports: [{ port: 80 }],
      });
      await of('b').exported(['10.2.0.1']);
      await of('b').eventually(() => expect(of('b').seen()).toEqual(['b 10.2.0.1 ready']));
      await of('b').exported(['10.2.0.2'], { name: 'later' });
      for (const id of ['a', 'c'])
        await of(id).eventually(() => expect(of(id).seen('later')).toEqual(['b 10.2.0.2 ready']));
      await of('b').eventually(async () =>
        expect(await of('b').conditions()).toMatchObject({ Ready: 'False ImportNotOurs' }),
      );
      expect(await of('a').import()).toEqual(theirs);
      expect(await of('a').derived()).toBeUndefined();
      expect(await of('c').derived()).toEqual(users);
      expect([of('a').seen(), of('c').seen()]).toEqual([[], []]);
    },
  );

  scenario(
    'imports are not exported again: neither a derived Service nor a user’s slices (G 26)',
    async ({ of }) => {
      await of('b').exported(['10.2.0.1']);
      const { api, namespace, eventually } = of('a');
      await eventually(() => expect(of('a').seen()).toEqual(['b 10.2.0.1 ready']));
      const derived = derivedName(namespace, 'web');
      await of('a').export(derived);
      await of('a').service('by-hand', { ports: [{ port: 80 }] });
      await api.create('EndpointSlice', namespace, {
        metadata: {
          name: 'by-hand',
          labels: { [labelServiceName]: 'by-hand', [labelSliceManagedBy]: 'staff' },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.1'] }],
        ports: [],
      });
      await of('a').export('by-hand');
      await eventually(async () => {
        expect(await of('a').conditions(derived)).toMatchObject({ Valid: 'False DerivedService' });
        expect(await of('a').conditions('by-hand')).toMatchObject({ Valid: 'False NoSelector' });
      });
      const before = versions(of('a').imported());
      await of('b').exported(['10.2.0.2'], { name: 'later' });
      for (const id of ['a', 'b', 'c'])
        await of(id).eventually(() => expect(of(id).seen('later')).toHaveLength(1));
      for (const id of ['a', 'b', 'c']) {
        const { items } = await of(id).api.list('ServiceImport', namespace);
        expect(items.map((i) => i.metadata.name).sort()).toEqual(['later', 'web']);
      }
      expect(versions(of('a').imported())).toEqual(before);
    },
  );

  scenario(
    'an export whose Service is created later, changes its type and is deleted, reports each state',
    async ({ of }) => {
      const { api, namespace, eventually } = of('b');
      const says = (condition: string) =>
        eventually(async () => expect(await of('b').conditions()).toMatchObject({ Valid: condition }));
      await of('b').export();
      await says('False NoService');
      await of('b').service('web', { type: 'ExternalName', externalName: 'example.org' });
      await says('False InvalidServiceType');
      await api.delete('Service', namespace, 'web');
      await says('False NoService');
      await of('b').service('web', {
        selector: { app: 'web' },
        ports: [{ name: 'http', port: 80, targetPort: 8080 }],
      });
      await of('b').pod('web-0', { labels: { app: 'web' }, ips: ['10.2.0.1'] });
      await says('True Valid');
      await of('a').eventually(() => expect(of('a').seen()).toEqual(['b 10.2.0.1 ready']));
      await api.delete('Service', namespace, 'web');
      await says('False NoService');
      await of('a').eventually(() => expect(of('a').seen()).toEqual([]));
      expect(await of('a').import()).toBeDefined();
      await of('b').unexport();
      await of('a').eventually(async () =>
        expect([await of('a').import(), await of('a').derived()]).toEqual([undefined, undefined]),
      );
    },
  );
}
