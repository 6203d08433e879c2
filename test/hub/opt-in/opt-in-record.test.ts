/**
 * A cluster that is rebuilt keeps its services that opt in, and a comparison covers services that were handed
 * back.
 */
import { expect, it } from 'vitest';
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

async function clusterWithOptIn() {
  const base = aService({ selector: undefined });
  const service = { ...base, metadata: { ...base.metadata, annotations: { [annotationSelector]: 'app=a' } } };
  const small = await smallCluster([service, ...pods(2)], { mode: 'shadow', optIn: 'active' });
  await small.pass(8);
  const served = () => addressesServed(small.world.store.list('EndpointSlice'));
  expect(served()).toHaveLength(2);
  return { ...small, served };
}

it('a cluster that is rebuilt keeps its switch for services that opt in, and their slices follow their pods', async () => {
  const { world, pass, served } = await clusterWithOptIn();
  await rebuild(
    { table: world.table, now: () => world.now, wait: (ms) => pass(ms / 1000), say: () => {}, who: 'x' },
    [cluster],
  );
  await world.restartRelay('s2');
  await pass(400);
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(60);
  expect((await readCluster(world.table, cluster))?.optIn).toBe('active');
  expect(served()).toHaveLength(1);
});

it('a service that was handed back to idle controllers is reported as a difference', async () => {
  const { world, pass } = await clusterWithOptIn();
  world.store.patch('Service', { namespace: 'default', name: 'svc' }, { spec: { selector: { app: 'a' } } });
  await pass(120);
  expect(await readDifference(world.table, { cluster, namespace: 'default', name: 'svc' })).toBeDefined();
});
