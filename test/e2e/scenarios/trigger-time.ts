import { expect } from 'vitest';
import { httpPort, type Scenario } from '../world.ts';

const annotation = 'endpoints.kubernetes.io/last-change-trigger-time';

export function triggerTime(scenario: Scenario): void {
  scenario(
    'the trigger time is the service’s creation, then the readiness of the pod that changed, then gone with a pod',
    async (w) => {
      const service = await w.service('web', { selector: { app: 'web' }, ports: [httpPort] });
      const expectTime = (addresses: number, time: string | undefined): Promise<void> =>
        w.eventually(() => {
          expect(w.endpoints('web')?.subsets?.flatMap((s) => s.addresses ?? []) ?? []).toHaveLength(
            addresses,
          );
          expect(w.slices('web').flatMap((s) => s.endpoints ?? [])).toHaveLength(addresses);
          expect(
            [w.endpoints('web'), ...w.slices('web')].map((o) => o?.metadata.annotations?.[annotation]),
          ).toEqual([time, time]);
        });
      await expectTime(0, service.metadata.creationTimestamp);
      await w.pod('a', { labels: { app: 'web' }, since: '2031-01-01T00:00:01Z' });
      await expectTime(1, '2031-01-01T00:00:01Z');
      await w.pod('b', { labels: { app: 'web' }, since: '2031-01-01T00:00:02Z' });
      await expectTime(2, '2031-01-01T00:00:02Z');
      await w.removePod('b');
      await expectTime(1, undefined);
    },
  );
}
