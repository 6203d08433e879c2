import { expect } from 'vitest';
import { labelMcsService, labelSourceCluster } from '#shared/kube/names.ts';
import { type ClusterWorld, ofSource, versions } from '#test/clusterset/multi-cluster/cluster-world.ts';
import type { Scenario } from '#test/clusterset/multi-cluster/fleet.ts';

const ofB = ['b 10.2.0.1 ready', 'b 10.2.0.2 ready'];
const ofC = ['c 10.3.0.1 ready'];

async function seenEverywhere(all: readonly ClusterWorld[], endpoints: readonly string[]): Promise<void> {
  for (const cluster of all)
    await cluster.eventually(() => expect(cluster.seen(), cluster.id).toEqual(endpoints));
}

export function exports(scenario: Scenario): void {
  scenario(
    'a service that b and c export is an import, a derived Service and slices of each source in every cluster (G 12)',
    async ({ of, all }) => {
      // Its own pods are nothing that a exports.
      await of('a').service('web', { selector: { app: 'web' }, ports: [{ port: 80 }] });
      await of('a').pod('web-0', { labels: { app: 'web' }, ips: ['10.1.0.1'] });
      await of('b').exported(['10.2.0.1', '10.2.0.2']);
      await of('c').exported(['10.3.0.1']);
      await seenEverywhere(all, [...ofB, ...ofC]);
      for (const cluster of all) {
        const derived = await cluster.derived();
        await cluster.eventually(async () => {
          expect(await cluster.import()).toMatchObject({
            spec: {
              type: 'ClusterSetIP',
              ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
              ips: derived?.spec?.clusterIPs,
            },
            status: {
              clusters: [{ cluster: 'b' }, { cluster: 'c' }],
              conditions: [{ type: 'Ready', status: 'True' }],
              endpointSliceObjects: 'Present',
            },
          });
        });
        for (const { metadata, endpoints = [] } of cluster.imported()) {
          expect(metadata.labels).toMatchObject({
            [labelMcsService]: 'web',
            [labelSourceCluster]: expect.stringMatching(/^[bc]$/),
          });
          expect(metadata.ownerReferences?.map((o) => o.uid)).toEqual([derived?.metadata.uid]);
          for (const endpoint of endpoints) expect(endpoint).not.toHaveProperty('nodeName');
          for (const endpoint of endpoints) expect(endpoint).not.toHaveProperty('targetRef');
        }
        expect(versions(cluster.slices(derived?.metadata.name ?? ''))).toEqual(versions(cluster.imported()));
      }
      for (const id of ['b', 'c'])
        await of(id).eventually(async () =>
          expect(await of(id).conditions()).toEqual({
            Valid: 'True Valid',
            Ready: 'True Exported',
            Conflict: 'False NoConflicts',
          }),
        );
      await of('b').podStatus('web-0', { ready: false });
      await seenEverywhere(all, ['b 10.2.0.1 waiting', ofB[1] as string, ...ofC]);
      await of('b').terminatePod('web-1');
      await seenEverywhere(all, ['b 10.2.0.1 waiting', 'b 10.2.0.2 draining', ...ofC]);
    },
  );

  scenario(
    'a service that b no longer exports loses only the slices of b, and the import is deleted with the last export (G 13)',
    async ({ of, all }) => {
      await of('b').exported(['10.2.0.1', '10.2.0.2']);
      await of('c').exported(['10.3.0.1']);
      await seenEverywhere(all, [...ofB, ...ofC]);
      const before = all.map((cluster) => versions(ofSource(cluster.imported(), 'c')));
      await of('b').unexport();
      await seenEverywhere(all, ofC);
      expect(all.map((cluster) => versions(ofSource(cluster.imported(), 'c')))).toEqual(before);
      for (const cluster of all)
        await cluster.eventually(async () =>
          expect((await cluster.import())?.status?.clusters).toEqual([{ cluster: 'c' }]),
        );
      await of('c').unexport();
      await seenEverywhere(all, []);
      for (const cluster of all)
        await cluster.eventually(async () =>
          expect([await cluster.import(), await cluster.derived()]).toEqual([undefined, undefined]),
        );
    },
  );

  scenario(
    'a set at rest has no writes: no export, import, derived Service or slice',
    async ({ of, all }) => {
      await of('b').exported(['10.2.0.1']);
      await of('c').exported(['10.3.0.1'], {
        spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] },
      });
      const state = async () =>
        Promise.all(
          all.map(async (cluster) => [
            ...[
              await cluster.import(),
              await cluster.derived(),
              await cluster.api.get('ServiceExport', cluster.namespace, 'web'),
            ].map((object) => object?.metadata.resourceVersion),
            ...versions(cluster.imported()),
          ]),
        );
      await of('c').eventually(async () =>
        expect(await of('c').conditions()).toMatchObject({ Conflict: 'True PortConflict' }),
      );
      await of('b').eventually(async () =>
        expect(await of('b').conditions()).toMatchObject({ Conflict: 'True PortConflict' }),
      );
      // Two later exports are imported everywhere, so all pending writes have been made.
      for (const name of ['first', 'second']) {
        await of('b').exported(['10.2.0.9'], { name });
        for (const cluster of all)
          await cluster.eventually(() => expect(cluster.seen(name)).toEqual(['b 10.2.0.9 ready']));
      }
      const before = await state();
      await of('b').exported(['10.2.0.9'], { name: 'third' });
      for (const cluster of all)
        await cluster.eventually(() => expect(cluster.seen('third')).toEqual(['b 10.2.0.9 ready']));
      expect(await state()).toEqual(before);
    },
  );

  scenario(
    'an importer without the namespace gets the import when the namespace is made, and nothing fails when it goes (G 16)',
    async (set) => {
      const { of, all } = set;
      await of('a').api.delete('Namespace', '', set.namespace);
      await of('a').eventually(async () =>
        expect(await of('a').api.get('Namespace', '', set.namespace)).toBeUndefined(),
      );
      await of('b').exported(['10.2.0.1', '10.2.0.2']);
      await seenEverywhere(
        all.filter(({ id }) => id !== 'a'),
        ofB,
      );
      expect(await of('a').import()).toBeUndefined();
      await of('a').createNamespace();
      await seenEverywhere(all, ofB);
      // It goes while it is written to.
      await of('b').podStatus('web-0', { ready: false });
      await of('a').api.delete('Namespace', '', set.namespace);
      await of('b').podStatus('web-0', { ready: true });
      await of('a').eventually(async () =>
        expect(await of('a').api.get('Namespace', '', set.namespace)).toBeUndefined(),
      );
      await of('b').podStatus('web-1', { ready: false });
      await of('c').eventually(() =>
        expect(of('c').seen()).toEqual(['b 10.2.0.1 ready', 'b 10.2.0.2 waiting']),
      );
    },
  );

  scenario(
    'a namespace that is never exported has this condition on the export, and no importer (G 18)',
    async ({ of }) => {
      const { api, eventually } = of('b');
      const name = `web-${of('b').namespace}`;
      await api.create('Service', 'default', {
        metadata: { name },
        spec: { selector: { app: name }, ports: [{ port: 80 }] },
      });
      await api.create('ServiceExport', 'default', { metadata: { name } });
      await eventually(async () => {
        const { status } = (await api.get('ServiceExport', 'default', name)) ?? {};
        expect(status?.conditions?.[0]).toMatchObject({
          type: 'Valid',
          status: 'False',
          reason: 'NotAllowed',
        });
      });
      expect(await of('a').api.get('ServiceImport', 'default', name)).toBeUndefined();
    },
  );
}
