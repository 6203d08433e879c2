/**
 * All Nodes of a cluster are one partition of the table, and a change of one of them concerns every Service.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import { nodesOf } from '#functions/sync/state/kept-nodes.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { aPod, aService, node, smallCluster } from '#test/support/small-cluster.ts';

const otherNode = { ...node, metadata: { ...node.metadata, name: 'node-b', uid: 'n-b' } };
const names = Array.from({ length: 10 }, (_, i) => i);

async function tenServices() {
  const services = names.map((i) => aService({ selector: { app: `a${i}` } }, `svc-${i}`));
  const { world, pass } = await smallCluster([...services, ...names.map((i) => aPod(i, { app: `a${i}` }))]);
  await pass(20);
  return { world, pass };
}

/** Reads of the Nodes from now on. As DynamoDB does, a query takes a while. The first ones may be refused. */
function nodeReads(world: HubWorld, refuse = 0): { readonly begun: () => number } {
  let begun = 0;
  const query = world.table.query.bind(world.table);
  Object.assign(world.table, {
    query: async (...args: Parameters<typeof query>) => {
      await turn();
      if (args[0] === `${cluster}#NODE`) begun++;
      if (args[0] === `${cluster}#NODE` && begun <= refuse) throw new Error('ThrottlingException');
      return query(...args);
    },
  });
  return { begun: () => begun };
}

const unready = (world: HubWorld): number =>
  world.store
    .list('Endpoints')
    .flatMap(({ subsets }) => subsets ?? [])
    .filter(({ notReadyAddresses }) => notReadyAddresses).length;

it('the services of a batch read the Nodes of their cluster once after a change of a Node', async () => {
  const { world, pass } = await tenServices();
  const reads = nodeReads(world);
  world.store.apply(otherNode);
  for (const i of names) world.store.apply(aPod(i, { app: `a${i}`, ready: false }));
  await pass(3);
  expect(unready(world)).toBe(10);
  expect(reads.begun()).toBe(1);
});

it('a read of the Nodes that the table refuses is made again by the next run', async () => {
  const { world, pass } = await tenServices();
  world.store.apply(otherNode);
  await pass(3);
  const reads = nodeReads(world, 1);
  world.store.apply({ ...otherNode, metadata: { ...otherNode.metadata, name: 'node-c', uid: 'n-c' } });
  for (const i of names) world.store.apply(aPod(i, { app: `a${i}`, ready: false }));
  await pass(20);
  expect(reads.begun()).toBeGreaterThan(1);
  expect(unready(world)).toBe(10);
});

it('a run whose record of the cluster is older than the kept Nodes reads none, and leaves these to the runs after it', async () => {
  const table = memoryTable();
  let reads = 0;
  const query = async (...args: Parameters<typeof table.query>) => {
    reads++;
    return table.query(...args);
  };
  const deps = { table: { ...table, query }, nodes: new Map(), limits: defaultLimits } as unknown as SyncDeps;
  const as = (nodesVersion: number, cacheScope = '1 of 0') =>
    nodesOf(deps, { id: cluster, nodesVersion, cacheScope } as ClusterRecord);
  await as(2);
  for (const version of [3, 2, 3]) await as(version);
  expect(reads).toBe(2);
  // The versions of a cluster that was registered again are others.
  await as(2, '2 of 0');
  expect(reads).toBe(3);
});
