/** The output of a run and the caches of a warm worker do not grow with the cluster. */
import { expect, it } from 'vitest';
import { readInputs } from '#functions/sync/state/inputs.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { NamespacePods } from '#shared/pods/namespace-pods.ts';
import { summarizeErrors } from '#shared/slices/outcome.ts';
import { readObject } from '#shared/store/objects.ts';
import { noCounts } from '#shared/store/service-counts.ts';
import { readTriggers } from '#shared/store/triggers.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

it('a failed run names the first of many skipped pods, and how many there are', () => {
  const errors = Array.from({ length: 5_000 }, (_, i) => `skipping Pod p-${i} for Service ns/svc: Node n Not Found`);
  expect(summarizeErrors(errors.slice(0, 2))).toBe(`[${errors[0]}, ${errors[1]}]`);
  expect(summarizeErrors([...errors, ...errors])).toBe(`[${errors.slice(0, 5).join(', ')}] and 4995 more`);
});

it('the log of a run in which every node is missing stays short', async () => {
  const lines: string[] = [];
  const log = { info() {}, warn: (_: string, fields: object) => void lines.push(JSON.stringify(fields)), error() {}, with: () => log };
  const elsewhere = pods(100).map((pod) => ({ ...pod, spec: { ...pod.spec, nodeName: 'gone' } }));
  const { pass } = await smallCluster([aService(), ...elsewhere], { log: log as never });
  await pass(30);
  expect(lines.some((line) => line.includes('and 95 more'))).toBe(true);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_000);
});

it('a worker that handles many clusters keeps the nodes of the last ones', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)]);
  await pass(8);
  const meta = (await readCluster(world.table, cluster)) as NonNullable<Awaited<ReturnType<typeof readCluster>>>;
  const sync = { ...defaultLimits.sync, maxNodes: 25 };
  const nodes = new Map();
  const deps = { table: world.table, now: () => world.now, pods: new NamespacePods(), nodes, limits: { ...defaultLimits, sync } };
  const key = { cluster, namespace: 'default', name: 'svc' };
  const many = new Map(Array.from({ length: 10 }, (_, i) => [`node-${i}`, {}]));
  for (const id of ['a', 'b', 'd']) nodes.set(id, { version: 1, nodes: many, seen: true });
  const serviceRecord = await readObject({ table: world.table, cluster }, 'Service', 'default', 'svc');
  const triggers = readTriggers(world.table, key, undefined);
  await readInputs(deps as never, { meta, key, triggers, items: { serviceRecord, hints: undefined, counts: noCounts }, source: 'written' });
  expect([...nodes.keys()]).toEqual(['b', 'd', cluster]);
});
