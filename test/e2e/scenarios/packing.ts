import { expect } from 'vitest';
import { httpPort, type Scenario, type World } from '../world.ts';

const overCapacity = 'endpoints.kubernetes.io/over-capacity';
const labels = { app: 'web' };
const spec = { selector: labels, ports: [httpPort] };

const sizes = (w: World, service: string): readonly number[] =>
  w
    .slices(service)
    .map((s) => (s.endpoints ?? []).length)
    .toSorted((a, b) => b - a);
const listed = (w: World, service: string): readonly string[] =>
  w
    .slices(service)
    .flatMap((s) => (s.endpoints ?? []).map((e) => e.targetRef?.name ?? ''))
    .toSorted();
const addresses = (w: World, service: string): number =>
  (w.endpoints(service)?.subsets ?? []).reduce((n, s) => n + (s.addresses ?? []).length, 0);

export function packing(scenario: Scenario): void {
  scenario('slices are filled to the maximum of 100, and a pod more goes where it fits', async (w) => {
    await w.pods('pod', 230, { labels });
    // Once this service lists them all, the writer has seen them all, and packs a new service in one run.
    await w.service('known', spec);
    await w.eventually(() => expect(listed(w, 'known')).toHaveLength(230));
    await w.service('web', spec);
    await w.eventually(() => expect(sizes(w, 'web')).toEqual([100, 100, 30]));
    await w.pod('one-more', { labels });
    await w.eventually(() => {
      expect(sizes(w, 'web')).toEqual([100, 100, 31]);
      expect(addresses(w, 'web')).toBe(231);
    });
    expect(new Set(listed(w, 'web')).size).toBe(231);
  });

  scenario(
    'TestEndpointTruncate: Endpoints contain 1,000 addresses and a mark, slices contain all',
    async (w) => {
      await w.pods('pod', 1001, { labels });
      await w.service('web', spec);
      await w.eventually(() => {
        expect(addresses(w, 'web')).toBe(1000);
        expect(w.endpoints('web')?.metadata.annotations?.[overCapacity]).toBe('truncated');
        expect(listed(w, 'web')).toHaveLength(1001);
      });
      const inEndpoints = new Set(
        w.endpoints('web')?.subsets?.flatMap((s) => (s.addresses ?? []).map((a) => a.targetRef?.name)),
      );
      const truncated = listed(w, 'web').find((name) => !inEndpoints.has(name)) as string;
      await w.podStatus(truncated, { ready: false });
      await w.eventually(() => {
        expect(addresses(w, 'web')).toBe(1000);
        expect(
          w
            .slices('web')
            .flatMap((s) => (s.endpoints ?? []).filter((e) => !e.conditions?.ready))
            .map((e) => e.targetRef?.name),
        ).toEqual([truncated]);
      });
      await w.podStatus(truncated, { ready: true });
      await w.eventually(() =>
        expect(
          w.slices('web').flatMap((s) => (s.endpoints ?? []).filter((e) => e.conditions?.ready)),
        ).toHaveLength(1001),
      );
      expect(addresses(w, 'web')).toBe(1000);

      const doomed = listed(w, 'web').slice(0, 501);
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let name = doomed.pop(); name; name = doomed.pop()) await w.removePod(name);
        }),
      );
      await w.eventually(() => {
        expect(addresses(w, 'web')).toBe(500);
        expect(w.endpoints('web')?.metadata.annotations?.[overCapacity]).toBeUndefined();
        expect(listed(w, 'web')).toHaveLength(500);
      });
    },
  );
}
