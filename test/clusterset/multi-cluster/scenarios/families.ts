import { expect } from 'vitest';
import { type ClusterWorld, ofSource } from '#test/clusterset/multi-cluster/cluster-world.ts';
import type { Scenario } from '#test/clusterset/multi-cluster/fleet.ts';

const both = '10.2.0.1 fd00:2::1';
const single = (family: string) => ({ ipFamilyPolicy: 'SingleStack', ipFamilies: [family] });
const dual = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };

const familiesOf = async (cluster: ClusterWorld) => ({
  import: (await cluster.import())?.spec.ipFamilies,
  ips: (await cluster.import())?.spec.ips?.map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4')),
  slices: [...new Set(cluster.imported().map((s) => s.addressType))].sort(),
});
const sees = (families: readonly string[]) => ({
  import: families,
  ips: families,
  slices: [...families].sort(),
});

async function eventuallySees(cluster: ClusterWorld, families: readonly string[]): Promise<void> {
  await cluster.eventually(async () => expect(await familiesOf(cluster), cluster.id).toEqual(sees(families)));
}

/** `c` has addresses of IPv4 alone, for its Services and its pods. */
export function families(scenario: Scenario): void {
  scenario(
    'a dual-stack export has both families where the importer has them, and one where it has one (G 29)',
    async ({ of }) => {
      await of('b').exported([both], { spec: dual });
      await eventuallySees(of('a'), ['IPv4', 'IPv6']);
      await eventuallySees(of('b'), ['IPv4', 'IPv6']);
      await eventuallySees(of('c'), ['IPv4']);
      await of('c').eventually(async () =>
        expect((await of('c').import())?.status?.conditions?.[0]).toMatchObject({
          type: 'Ready',
          status: 'True',
        }),
      );
    },
  );

  scenario(
    'an export without precedence changes no family of an import, and all exports say where traffic does not reach',
    async ({ of }) => {
      await of('b').exported([both], { spec: dual });
      await eventuallySees(of('a'), ['IPv4', 'IPv6']);
      const before = await of('a').derived();
      await of('c').exported(['10.3.0.1']);
      for (const id of ['b', 'c'])
        await of(id).eventually(async () =>
          expect(await of(id).conditions()).toMatchObject({ Conflict: 'True IPFamilyConflict' }),
        );
      await of('a').eventually(() =>
        expect(of('a').seen()).toEqual(['b 10.2.0.1 ready', 'b fd00:2::1 ready', 'c 10.3.0.1 ready']),
      );
      await eventuallySees(of('a'), ['IPv4', 'IPv6']);
      const after = await of('a').derived();
      expect([after?.metadata.uid, after?.spec?.clusterIP]).toEqual([
        before?.metadata.uid,
        before?.spec?.clusterIP,
      ]);
    },
  );

  scenario(
    'an import whose first family goes is reached by another derived Service: the API changes none in place',
    async ({ of }) => {
      await of('b').exported([both], { spec: dual });
      await eventuallySees(of('a'), ['IPv4', 'IPv6']);
      await of('a').exported(['fd00:1::1'], { spec: single('IPv6') });
      await of('a').eventually(() => expect(of('a').seen()).toContain('a fd00:1::1 ready'));
      await of('b').unexport();
      for (const id of ['a', 'b']) await eventuallySees(of(id), ['IPv6']);
      for (const id of ['a', 'b'])
        await of(id).eventually(() => expect(of(id).seen()).toEqual(['a fd00:1::1 ready']));
    },
  );

  scenario(
    'a family that the importer lacks is reported on its import, and does not affect slices and other clusters (G 29)',
    async ({ of }) => {
      await of('b').exported(['fd00:2::1'], { spec: single('IPv6') });
      await eventuallySees(of('a'), ['IPv6']);
      await of('c').eventually(async () => {
        const { spec, status } = (await of('c').import()) ?? {};
        expect(status?.conditions).toMatchObject([
          { type: 'Ready', status: 'False', reason: 'IPFamilyNotSupported' },
        ]);
        expect(spec?.ips).toBeUndefined();
        expect(await of('c').derived()).toBeUndefined();
      });
      expect(await of('b').conditions()).toMatchObject({ Valid: 'True Valid' });
      // A second export brings a family that it has.
      await of('b').unexport();
      await of('b').eventually(async () => expect(await of('a').import()).toBeUndefined());
      await of('b').exported(['10.2.0.2'], { name: 'four' });
      await of('c').eventually(() => expect(of('c').seen('four')).toEqual(['b 10.2.0.2 ready']));
    },
  );

  scenario(
    'a headless export has no addresses of its own and keeps the names of its pods, and a new export gets addresses (G 28)',
    async ({ of }) => {
      const headless = {
        clusterIP: 'None',
        selector: { app: 'web' },
        ports: [{ name: 'http', port: 80, targetPort: 8080 }],
      };
      await of('b').service('web', headless);
      for (const i of [0, 1])
        await of('b').pod(`web-${i}`, {
          labels: { app: 'web' },
          ips: [`10.2.0.${i + 1}`],
          spec: { hostname: `web-${i}`, subdomain: 'web' },
        });
      await of('b').export();
      for (const id of ['a', 'c'])
        await of(id).eventually(async () => {
          expect((await of(id).import())?.spec).toMatchObject({ type: 'Headless' });
          const names = ofSource(of(id).imported(), 'b').flatMap((s) =>
            (s.endpoints ?? []).map((e) => `${e.hostname} ${e.addresses}`),
          );
          expect(names.sort()).toEqual(['web-0 10.2.0.1', 'web-1 10.2.0.2']);
        });
      expect((await of('a').import())?.spec.ips).toBeUndefined();
      expect((await of('a').derived())?.spec?.clusterIP).toBe('None');
      await of('b').api.delete('Service', of('b').namespace, 'web');
      await of('b').service('web', { ...headless, clusterIP: undefined });
      for (const id of ['a', 'c'])
        await of(id).eventually(async () => {
          const derived = await of(id).derived();
          expect(derived?.spec?.clusterIP).toMatch(/^10\.0\./);
          expect((await of(id).import())?.spec).toMatchObject({
            type: 'ClusterSetIP',
            ips: [derived?.spec?.clusterIP],
          });
          expect(of(id).seen()).toEqual(['b 10.2.0.1 ready', 'b 10.2.0.2 ready']);
          for (const { metadata } of of(id).imported())
            expect(metadata.ownerReferences?.map((o) => o.uid)).toEqual([derived?.metadata.uid]);
        });
    },
  );
}
