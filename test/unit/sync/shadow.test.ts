import { expect, it } from 'vitest';
import { readDifference } from '#shared/snapshot/differences.ts';
import { cluster } from '#test/conformance/world.ts';
import { aService, pods, smallCluster } from '#test/parity/small-cluster.ts';

it('of a service that differs in everything a hundred differences are kept, and how many there are', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(200)], { mode: 'shadow' });
  await pass(60);
  const difference = await readDifference(world.table, { cluster, namespace: 'default', name: 'svc' });
  const shown = JSON.parse(difference?.text ?? '[]') as readonly string[];
  expect(difference?.confirmed).toBe(true);
  expect(shown).toHaveLength(101);
  // Each pod in Endpoints and in a slice.
  expect(shown.at(-1)).toBe('and 300 more');
});
