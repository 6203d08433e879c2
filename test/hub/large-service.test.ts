/**
 * Services whose outputs are larger than what is saved of an output: they are written and done with as any
 * other.
 */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', kind: 'service', name: 'svc' } as const;
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Text that does not compress. */
function random(): (length: number) => string {
  let seed = 1;
  const next = (): string => {
    seed = (seed * 48271) % 2147483647;
    return alphabet.charAt(seed % alphabet.length);
  };
  return (length) => Array.from({ length }, next).join('');
}

function errorLog(): { readonly errors: string[]; readonly log: Log } {
  const errors: string[] = [];
  const log: Log = {
    info() {},
    warn() {},
    error: (text, fields) => void errors.push(`${text} ${JSON.stringify(fields)}`.slice(0, 300)),
    with: () => log,
  };
  return { errors, log };
}

const isDone = async ({ world }: SmallCluster): Promise<boolean> => isClean(await readWork(world.table, key));
const slicesOf = ({ world }: SmallCluster): readonly EndpointSlice[] =>
  world.store.list('EndpointSlice', 'default');
const endpointsOf = ({ world }: SmallCluster): Endpoints => world.store.get('Endpoints', 'default', 'svc');
const addressesOf = (small: SmallCluster): number =>
  (endpointsOf(small).subsets ?? []).reduce((sum, { addresses }) => sum + (addresses?.length ?? 0), 0);

describe('a Service with 230 KB of labels', () => {
  const text = random();
  const labels = (bytes: number): { readonly [key: string]: string } =>
    Object.fromEntries(Array.from({ length: Math.ceil(bytes / 132) }, () => [text(63), text(63)]));
  const withLabels = (of: { readonly [key: string]: string }): RawObject => {
    const service = aService({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' });
    return { ...service, metadata: { ...service.metadata, labels: of } };
  };

  it('its work is done after most of its labels have changed, and its next change comes at once', async () => {
    const { errors, log } = errorLog();
    const small = await smallCluster([withLabels(labels(230_000)), ...pods(20)], { log });
    await small.pass(120);
    expect([await isDone(small), errors]).toEqual([true, []]);
    small.world.store.apply(withLabels(labels(230_000)));
    await small.pass(10);
    small.world.store.apply(aPod(20));
    await small.pass(5);
    expect(slicesOf(small).map((s) => s.endpoints?.length)).toEqual([21, 21]);
    expect(addressesOf(small)).toBe(21);
    await small.pass(60);
    expect([await isDone(small), errors]).toEqual([true, []]);
  });
});

describe('a Service of 2,050 ports whose 6 pods have other target ports each', () => {
  const text = random();
  const ports = Array.from({ length: 2_050 }, (_, i) => ({
    name: `${text(58)}${String(i).padStart(5, '0')}`,
    port: 1024 + i,
    targetPort: 'p',
    protocol: 'TCP',
  }));
  const withPort = (i: number): RawObject => {
    const pod = aPod(i) as unknown as { readonly spec: object };
    const containers = [
      { name: 'c', image: 'i', ports: [{ name: 'p', containerPort: 8000 + i, protocol: 'TCP' }] },
    ];
    return { ...pod, spec: { ...pod.spec, containers } } as unknown as RawObject;
  };
  const start = async (log: Log): Promise<SmallCluster> => {
    const small = await smallCluster(
      [aService({ ports }), ...Array.from({ length: 6 }, (_, i) => withPort(i))],
      { log },
    );
    await small.pass(60);
    return small;
  };

  it('its work is done, each change comes at once, and no output is written again while nothing changes', async () => {
    const { errors, log } = errorLog();
    const small = await start(log);
    expect(JSON.stringify(endpointsOf(small)).length).toBeGreaterThan(1_200_000);
    expect([await isDone(small), errors, addressesOf(small)]).toEqual([true, [], 6]);
    const written = small.calls.length;
    await small.pass(300);
    expect(small.calls.slice(written)).toEqual([]);
    small.world.store.remove('Pod', 'default', 'pod-0');
    await small.pass(5);
    expect([await isDone(small), errors, addressesOf(small)]).toEqual([true, [], 5]);
    // Another client's edit is repaired.
    const object = endpointsOf(small);
    small.world.store.apply({ ...object, subsets: [] });
    await small.pass(10);
    expect([await isDone(small), errors, addressesOf(small)]).toEqual([true, [], 5]);
  });

  it('explain shows that its Endpoints are not saved, and are read from the API server by each run', async () => {
    const small = await start(errorLog().log);
    const explanation = await explain(small.world.table, key, small.world.now);
    const saved = explanation.groups.find((g) => g.title === 'Saved')?.facts ?? [];
    expect(saved.find((f) => f.label === 'Endpoints')?.text).toBe(
      'too large to be saved: each run reads them from the API server',
    );
    expect(explanation.pods.map((p) => p.endpoints.pending)).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
    expect((await explainThen(small.world.table, key, small.world.now, small.world.now)).summary).toBe(
      'Not known: an output of the Service is too large to be saved with its addresses.',
    );
  });
});
