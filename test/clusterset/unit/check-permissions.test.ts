import { expect, it } from 'vitest';
import { checkPermissions, dueForCheck } from '#functions/sweep/check-permissions.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { clusterApi, sweepDeps } from '#test/support/stage-deps.ts';

it('in a set the rights of imports are asked for too, until the cluster imports', async () => {
  const table = memoryTable();
  let now = 1_000_000;
  let asked = 0;
  const api = { url: 'https://c.example', auth: { type: 'web-identity', audience: 'a' } } as const;
  const membership = { ...noMembership, set: 'prod' };
  const clusterset = { ...membership, imports: 'shadow' };
  await registerCluster(table, { id: 'c', mode: 'shadow', api, clusterset }, now);
  const deps = sweepDeps({
    table,
    now: () => now,
    cluster: async () =>
      clusterApi({
        allows: async ({ resource }: { resource: string }) =>
          ++asked > 0 && resource !== 'serviceimports' && resource !== 'events',
        dryRunCreate: async () => {},
      }),
  });
  const rights = async () => ((await readCluster(table, 'c')) as ClusterRecord).readiness.rights;
  const sweep = async (): Promise<void> => {
    const record = (await readCluster(table, 'c')) as ClusterRecord;
    for (const due of dueForCheck(deps, [record])) await checkPermissions(deps, due);
  };
  await sweep();
  expect((await rights())?.imports).toEqual([
    'create events',
    'patch events',
    ...['get', 'create', 'update', 'delete'].map((verb) => `${verb} serviceimports`),
    'patch serviceimports/status',
  ]);
  expect((await rights())?.optIn).toEqual(['create events', 'patch events']);
  const inShadow = asked;
  await saveMembership(table, 'c', { ...membership, imports: 'active' });
  now += 600_000;
  await sweep();
  expect((await rights())?.imports).toBeUndefined();
  expect(asked - inShadow).toBeLessThan(inShadow);
});
