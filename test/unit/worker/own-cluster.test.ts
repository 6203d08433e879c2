import { expect, it } from 'vitest';
import { reachingOnly } from '#functions/worker/own-cluster.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { clusterApi, syncDeps } from '#test/support/stage-deps.ts';

it('a batch from the queue of one cluster cannot reach the API of another, whatever its messages say', async () => {
  const deps = syncDeps({ cluster: async ({ id }) => clusterApi({ identity: async () => `uid of ${id}` }) });
  for (const id of ['a', 'b']) await registerCluster(deps.table, { id, mode: 'active', settings: {} }, 0);
  const [a, b] = [await readCluster(deps.table, 'a'), await readCluster(deps.table, 'b')];
  const own = reachingOnly(deps, 'a');
  expect(await (await own.cluster(a!, () => 1_000)).identity()).toBe('uid of a');
  await expect(own.cluster(b!, () => 1_000)).rejects.toThrow(
    'a message from the queue of a asks for the API of b',
  );
});
