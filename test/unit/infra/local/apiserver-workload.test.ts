/** The demonstration's workload starts, rolls and flaps on the embedded API server. */
import { afterEach, expect, it, vi } from 'vitest';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import { startWorkload } from '#infra/local/clusters/workload.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function demonstration() {
  const cluster = await startEmbeddedCluster();
  const abort = new AbortController();
  ends.push(
    () => abort.abort(),
    () => cluster.close(),
  );
  const lines: string[] = [];
  const { store } = cluster;
  startWorkload(store, { signal: abort.signal, log: (line) => lines.push(line), speed: 20 });
  const pods = () => store.list('Pod') as unknown as PodLike[];
  const podsOf = (app: string) => pods().filter((p) => p.metadata.labels['app'] === app);
  const readyOf = (app: string) => podsOf(app).filter((p) => readyCondition(p)?.status === 'True');
  return { store, lines, pods, podsOf, readyOf };
}

it('the demonstration opens with ready pods but for those that wait for a gate, and then rolls and flaps without a complaint', async () => {
  const { store, lines, pods, podsOf, readyOf } = await demonstration();
  expect(store.list('Service')).toHaveLength(10);
  await vi.waitFor(
    () => {
      expect(pods()).toHaveLength(25);
      expect(pods().filter((p) => readyCondition(p)?.status === 'True').length).toBeGreaterThanOrEqual(22);
      expect(new Set(pods().flatMap((p) => p.status.podIPs.map((i) => i.ip))).size).toBe(30);
      expect(podsOf('gateway').map((p) => readyCondition(p)?.message)).toEqual(
        Array(2).fill(
          'corresponding condition of pod readiness gate "example.com/registered-with-load-balancer" does not exist.',
        ),
      );
    },
    { timeout: 30_000, interval: 10 },
  );
  const flips = new Set<string | undefined>();
  store.watch('Pod', ({ object }) => {
    if (object.metadata.labels?.['app'] === 'ads')
      flips.add(readyCondition(object as unknown as PodLike)?.reason);
  });
  const versions = (app: string) => new Set(podsOf(app).map((p) => p.metadata.labels['version']));
  await vi.waitFor(
    () => {
      expect(versions('ledger')).toEqual(new Set(['v6']));
      expect(versions('web').has('v1')).toBe(false);
      expect(flips.has('ContainersNotReady')).toBe(true);
      expect(readyOf('web')).toHaveLength(4);
    },
    { timeout: 120_000, interval: 20 },
  );
  expect(lines.filter((line) => !/services and|rolling update of/.test(line))).toEqual([]);
});

it('what a person changes holds: replicas, labels, gates and images', async () => {
  const { store, podsOf, readyOf } = await demonstration();
  const eventually = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 10 });
  await eventually(() => expect(readyOf('checkout')).toHaveLength(2));

  store.patch('Deployment', { namespace: 'shop', name: 'checkout' }, { spec: { replicas: 5 } });
  await eventually(() => expect(readyOf('checkout')).toHaveLength(5));
  store.patch('Deployment', { namespace: 'shop', name: 'checkout' }, { spec: { replicas: 0 } });
  await eventually(() => expect(podsOf('checkout')).toEqual([]));

  const released = podsOf('reviews')[0]?.metadata.name ?? '';
  store.patch('Pod', { namespace: 'shop', name: released }, { metadata: { labels: { app: 'mine' } } });
  await eventually(() => expect(readyOf('reviews')).toHaveLength(2));
  expect(store.find('Pod', 'shop', released)?.metadata.deletionTimestamp).toBeUndefined();

  const gated = podsOf('gateway')[0]?.metadata.name ?? '';
  const gate = { type: 'example.com/registered-with-load-balancer', status: 'True' };
  store.patch(
    'Pod',
    { namespace: 'payments', name: gated },
    { status: { conditions: [gate] } },
    { type: 'strategic', subresource: 'status' },
  );
  await eventually(() => expect(readyOf('gateway').map((p) => p.metadata.name)).toEqual([gated]));

  const image = {
    spec: { template: { spec: { containers: [{ name: 'reviews', image: 'reviews:nope' }] } } },
  };
  store.patch('Deployment', { namespace: 'shop', name: 'reviews' }, image, { type: 'strategic' });
  await eventually(() => expect(podsOf('reviews').map((p) => p.status.phase)).toContain('Pending'));
  expect(readyOf('reviews')).toHaveLength(2);
});

const readyCondition = (pod: PodLike) => pod.status.conditions?.find((c) => c.type === 'Ready');

interface PodLike {
  readonly metadata: { readonly name: string; readonly labels: { readonly [key: string]: string } };
  readonly status: {
    readonly phase: string;
    readonly podIPs: { ip: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}
