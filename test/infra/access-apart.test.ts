/**
 * Ingest may write every record but those of register. Whatever it writes there, no credentials of a cluster
 * go elsewhere.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sweep } from '#functions/sweep/sweep.ts';
import { identityKeys } from '#infra/aws/stages/function.ts';
import { type ApiAccess, readCluster } from '#shared/clusters/record.ts';
import { giveUpAccess, registerCluster } from '#shared/clusters/registration.ts';
import { finishRemoval } from '#shared/clusters/removal.ts';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import type { Item } from '#shared/store/table.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

const apiOf = (id: string): ApiAccess => ({
  url: `https://${id}.example`,
  auth: { type: 'secret', secretArn: `arn:of:${id}` },
});
const stolen = JSON.stringify({ url: 'https://attacker.example', auth: apiOf('victim').auth });
const queues = JSON.stringify({ events: 'https://attacker.example/e', syncs: 'https://attacker.example/s' });

/** The cluster `victim` is registered, and `gone` was removed. */
async function hub() {
  const table = memoryTable();
  for (const id of ['victim', 'gone'])
    await registerCluster(table, { id, mode: 'shadow', api: apiOf(id) }, 0);
  await drainCluster(table, 'gone', 0);
  await giveUpAccess(table, 'gone');
  const gone = await readCluster(table, 'gone');
  expect(await finishRemoval(table, gone!, 0)).toBe(true);
  const asked: (ApiAccess | undefined)[] = [];
  const deps = sweepDeps({
    table,
    cluster: async ({ api }) => {
      asked.push(api);
      throw new Error('no answer');
    },
    now: () => 10_000_000,
  });
  return { table, deps, asked };
}

const attributes = fc.record(
  {
    mode: fc.constantFrom('shadow', 'active', 'paused', 'draining', 'removed'),
    optIn: fc.constantFrom('off', 'shadow', 'active'),
    inc: fc.nat(3),
    api: fc.constant(stolen),
    queues: fc.constant(queues),
    settings: fc.constant('{}'),
    rebuilding: fc.constant(JSON.stringify({ mode: 'shadow' })),
    uid: fc.constant('u'),
  },
  { requiredKeys: ['api', 'queues'] },
);
const keys = fc.constantFrom(
  ['CLUSTER#gone', 'META'],
  ['CLUSTER#victim', 'META'],
  ['CLUSTER#nobody', 'META'],
  ['gone#ACCESS', 'ACCESS'],
);
const written = fc.array(fc.tuple(keys, attributes), { minLength: 1, maxLength: 4 });

it('no record that ingest may write leads a call with credentials of a cluster to another address', async () => {
  await fc.assert(
    fc.asyncProperty(written, async (records) => {
      const { table, deps, asked } = await hub();
      for (const [[pk = '', sk = ''], more] of records) {
        expect(
          (identityKeys as readonly string[]).some((pattern) =>
            pattern.endsWith('*') ? pk.startsWith(pattern.slice(0, -1)) : pk === pattern,
          ),
        ).toBe(false);
        await table.put({ pk, sk, ...more } as Item);
      }
      await sweep(deps).catch(() => {});
      for (const id of ['gone', 'nobody']) expect((await readCluster(table, id))?.api).toBeUndefined();
      expect(asked.filter((api) => JSON.stringify(api) !== JSON.stringify(apiOf('victim')))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
