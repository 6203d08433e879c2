/**
 * Measures a run of the endpoints controller in ms: `node test/bench/endpoints.ts`. Upstream takes about 22
 * ms for 5,000 pods. On a busy machine the best time is the most reliable. The first time is that of a cold
 * function.
 */

import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import type { Endpoints, Pod, Service } from '#shared/kube/types.ts';
import { pod as aPod, service as aService } from '#test/support/objects.ts';

interface Timing {
  readonly pods: number;
  readonly case: string;
  readonly firstMs: number;
  readonly bestMs: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

export function benchmarkEndpoints(sizes: readonly number[], runs: number): Timing[] {
  return sizes.flatMap((size) => {
    const pods = shuffled(Array.from({ length: size }, (_, i) => pod(i, true)));
    const created = decideEndpoints({
      namespace: 'ns',
      name: 'svc',
      service,
      pods,
      current: undefined,
      triggerTimes: undefined,
    });
    const triggerTimes = created.triggerTimes;
    // a truncated object is never "unchanged" at the first glance, so both sides of 1000 are worth a look
    const current = asServed(created.write?.verb === 'create' ? created.write.object : undefined);
    const changed = pods.map((p) => (p.metadata.name === 'pod-0' ? pod(0, false) : p));
    const base = { namespace: 'ns', name: 'svc', service, current, triggerTimes };
    return [
      time(size, 'no change', runs, () => decideEndpoints({ ...base, pods })),
      time(size, 'one pod changed', runs, () => decideEndpoints({ ...base, pods: changed })),
    ];
  });
}

function time(pods: number, name: string, runs: number, run: () => unknown): Timing {
  const times = Array.from({ length: runs }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.floor(share * (runs - 1))] ?? 0);
  return {
    pods,
    case: name,
    firstMs: round(times[0] ?? 0),
    bestMs: at(0),
    medianMs: at(0.5),
    p99Ms: at(0.99),
  };
}

const round = (ms: number) => Math.round(ms * 1000) / 1000;

const service: Service = aService(
  {
    ports: [
      { name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' },
      { name: 'metrics', port: 9090, protocol: 'TCP', targetPort: 9090 },
    ],
  },
  { creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: 'web' } },
);

const pod = (i: number, ready: boolean): Pod =>
  aPod(`pod-${i}`, {
    uid: `9a1c0b6e-0000-4000-8000-${String(i).padStart(12, '0')}`,
    ips: [`10.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`],
    ready,
    readySince: '2026-01-01T00:00:00Z',
    spec: { nodeName: `node-${i % 200}` },
  });

/** The order that a hash map would give, the same every time. */
function shuffled<T>(items: T[]): T[] {
  let seed = 1;
  for (let i = items.length - 1; i > 0; i--) {
    seed = (seed * 48271) % 0x7fffffff;
    const j = seed % (i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}

function asServed(object: Endpoints | undefined): Endpoints {
  if (!object) throw new Error('nothing was created');
  const { metadata } = object;
  return JSON.parse(
    JSON.stringify({
      ...object,
      metadata: { ...metadata, uid: 'ep', resourceVersion: '1', annotations: {} },
    }),
  ) as Endpoints;
}

if (import.meta.main) console.table(benchmarkEndpoints([10, 1000, 5000], 200));
