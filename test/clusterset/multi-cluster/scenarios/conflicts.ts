import { expect } from 'vitest';
import type { ServicePort } from '#shared/kube/types.ts';
import { ofSource } from '#test/clusterset/multi-cluster/cluster-world.ts';
import type { Scenario } from '#test/clusterset/multi-cluster/fleet.ts';

const port = (name: string, number: number, more: Partial<ServicePort> = {}): ServicePort => ({
  name,
  port: number,
  targetPort: 8080,
  ...more,
});

export function conflicts(scenario: Scenario): void {
  scenario(
    'exports with other ports make a union by name, and traffic to a port goes to the clusters that have it exactly so (G 14)',
    async ({ of, all }) => {
      await of('b').exported(['10.2.0.1'], {
        spec: { ports: [port('http', 80), port('metrics', 9090, { appProtocol: 'h2c' })] },
      });
      await of('a').eventually(() => expect(of('a').seen()).toEqual(['b 10.2.0.1 ready']));
      await of('c').exported(['10.3.0.1'], {
        spec: { ports: [port('http', 81), port('admin', 9000, { targetPort: 9001 })] },
      });
      for (const cluster of all) {
        await cluster.eventually(async () => {
          expect((await cluster.import())?.spec.ports).toEqual([
            { name: 'http', port: 80, protocol: 'TCP' },
            { name: 'metrics', port: 9090, protocol: 'TCP', appProtocol: 'h2c' },
            { name: 'admin', port: 9000, protocol: 'TCP' },
          ]);
          const ports = (source: string) =>
            ofSource(cluster.imported(), source).flatMap((s) =>
              (s.ports ?? []).map((p) => `${p.name} ${p.port}`),
            );
          expect(ports('b').sort()).toEqual(['http 8080', 'metrics 8080']);
          expect(ports('c')).toEqual(['admin 9001']);
        });
      }
      for (const id of ['b', 'c'])
        await of(id).eventually(async () =>
          expect(await of(id).conditions()).toMatchObject({
            Valid: 'True Valid',
            Conflict: 'True PortConflict',
          }),
        );
      await of('c').unexport();
      await of('b').eventually(async () =>
        expect(await of('b').conditions()).toMatchObject({ Conflict: 'False NoConflicts' }),
      );
      for (const cluster of all)
        await cluster.eventually(async () =>
          expect((await cluster.import())?.spec.ports.map((p) => p.name)).toEqual(['http', 'metrics']),
        );
    },
  );

  scenario(
    'an address that pods of two clusters have is written for the export with precedence alone (G 25)',
    async ({ of, all }) => {
      await of('b').exported(['10.2.0.1', '10.9.0.9']);
      await of('a').eventually(() =>
        expect(of('a').seen()).toEqual(['b 10.2.0.1 ready', 'b 10.9.0.9 ready']),
      );
      await of('c').exported(['10.3.0.1', '10.9.0.9']);
      await of('c').podStatus('web-1', { ready: false });
      for (const cluster of all)
        await cluster.eventually(() =>
          expect(cluster.seen()).toEqual(['b 10.2.0.1 ready', 'b 10.9.0.9 ready', 'c 10.3.0.1 ready']),
        );
    },
  );

  scenario(
    'the export with precedence decides differences of the exports, and both report the conflict',
    async ({ of, all }) => {
      const config = { clientIP: { timeoutSeconds: 20 } };
      const spec = {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: config,
        internalTrafficPolicy: 'Cluster',
        trafficDistribution: 'PreferClose',
      };
      await of('b').exported(['10.2.0.1'], {
        spec,
        exportSpec: { exportedLabels: { team: 'b' }, exportedAnnotations: { note: 'b' } },
      });
      await of('a').eventually(() => expect(of('a').seen()).toHaveLength(1));
      await of('c').exported(['10.3.0.1'], {
        spec: { internalTrafficPolicy: 'Local' },
        exportSpec: { exportedLabels: { team: 'c' } },
      });
      const reasons = [
        'SessionAffinity',
        'SessionAffinityConfig',
        'InternalTrafficPolicy',
        'TrafficDistribution',
        'Labels',
        'Annotations',
      ];
      const said = `True ${reasons.map((reason) => `${reason}Conflict`).join()}`;
      for (const id of ['b', 'c'])
        await of(id).eventually(async () => expect((await of(id).conditions())['Conflict']).toBe(said));
      for (const cluster of all)
        await cluster.eventually(async () => {
          expect(await cluster.import()).toMatchObject({
            metadata: { labels: { team: 'b' }, annotations: { note: 'b' } },
            spec,
          });
          expect((await cluster.derived())?.spec).toMatchObject(spec);
          expect(cluster.seen()).toHaveLength(2);
        });
    },
  );
}
