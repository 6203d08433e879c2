import { expect } from 'vitest';
import { zoneElsewhere } from '#shared/clusterset/imports/locality-hints.ts';
import { type ClusterWorld, ofSource, versions } from '#test/clusterset/multi-cluster/cluster-world.ts';
import type { Scenario } from '#test/clusterset/multi-cluster/fleet.ts';

const local = { annotations: { 'fleet-endpoints/prefer': 'local' } };
/** `10.2.0.1 zone-a,zone-b`, sorted. */
const hinted = (cluster: ClusterWorld): readonly string[] =>
  cluster
    .imported()
    .flatMap((s) => s.endpoints ?? [])
    .map(
      ({ addresses, hints }) =>
        `${addresses.join()} ${(hints?.forZones ?? []).map(({ name }) => name).join()}`,
    )
    .sort();

export function locality(scenario: Scenario): void {
  scenario(
    'a service whose exports prefer local endpoints has hints for the zones of each importer, and fails over without a write',
    async ({ of }) => {
      await of('a').exported(['10.1.0.1', '10.1.0.2'], local);
      await of('b').exported(['10.2.0.1'], local);
      await of('a').eventually(() =>
        expect(hinted(of('a'))).toEqual([
          '10.1.0.1 zone-a,zone-b',
          '10.1.0.2 zone-a,zone-b',
          `10.2.0.1 ${zoneElsewhere}`,
        ]),
      );
      await of('b').eventually(() =>
        expect(hinted(of('b'))).toEqual([
          `10.1.0.1 ${zoneElsewhere}`,
          `10.1.0.2 ${zoneElsewhere}`,
          '10.2.0.1 zone-a,zone-b',
        ]),
      );
      // A cluster without exports has no local endpoints.
      await of('c').eventually(() =>
        expect(hinted(of('c'))).toEqual(['10.1.0.1 ', '10.1.0.2 ', '10.2.0.1 ']),
      );
      const ofB = versions(ofSource(of('a').imported(), 'b'));
      for (const pod of ['web-0', 'web-1']) await of('a').podStatus(pod, { ready: false });
      await of('a').eventually(() =>
        expect(of('a').seen()).toEqual(['a 10.1.0.1 waiting', 'a 10.1.0.2 waiting', 'b 10.2.0.1 ready']),
      );
      expect(versions(ofSource(of('a').imported(), 'b'))).toEqual(ofB);
    },
  );
}
