/** The demonstration's workload starts, rolls and flaps on the embedded API server. */
import { afterEach, expect, it, vi } from 'vitest';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import { startWorkload } from '#infra/local/clusters/workload.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it('the demonstration workload opens with ready pods, and then rolls and flaps without a complaint', async () => {
  const cluster = await startEmbeddedCluster();
  const transport = httpTransport({ server: cluster.url });
  const abort = new AbortController();
  ends.push(
    () => abort.abort(),
    () => transport.close(),
    () => cluster.close(),
  );
  const lines: string[] = [];
  await startWorkload(transport, { signal: abort.signal, log: (line) => lines.push(line), speed: 50 });
  const pods = () => cluster.store.list('Pod') as unknown as PodLike[];
  expect(cluster.store.list('Service')).toHaveLength(7);
  expect(pods()).toHaveLength(19);
  expect(pods().every((p) => p.status.conditions[0]?.status === 'True')).toBe(true);
  expect(new Set(pods().flatMap((p) => p.status.podIPs.map((i) => i.ip))).size).toBe(24);

  const flips = new Set<string>();
  cluster.store.watch('Pod', ({ object }) => {
    if (object.metadata.labels?.['app'] === 'ads')
      flips.add((object as unknown as PodLike).status.conditions?.[0]?.status ?? '');
  });
  const versions = (app: string) =>
    new Set(pods().flatMap((p) => (p.metadata.labels.app === app ? p.metadata.labels.version : [])));
  await vi.waitFor(
    () => {
      expect(versions('ledger')).toEqual(new Set(['v6']));
      expect(versions('web').has('v1')).toBe(false);
      expect(flips.has('False')).toBe(true);
    },
    { timeout: 120_000, interval: 20 },
  );
  expect(lines.filter((line) => !/services and|rolling update of/.test(line))).toEqual([]);
});

interface PodLike {
  readonly metadata: { readonly labels: { readonly app: string; readonly version: string } };
  readonly status: { readonly podIPs: { ip: string }[]; readonly conditions: { readonly status: string }[] };
}
