import { expect, it } from 'vitest';
import { checkPermissions, dueForCheck } from '#functions/sweep/check-permissions.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { recordWriterConflict } from '#shared/clusters/writer/writer-conflict.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { clusterApi, sweepDeps } from '#test/support/stage-deps.ts';

const api = { url: 'https://c.example', auth: { type: 'web-identity', audience: 'a' } } as const;

async function shadowCluster() {
  const table = memoryTable();
  let now = 1_000_000;
  let asked = 0;
  let answers: (resource: string) => boolean = () => true;
  let refusal: string | undefined;
  await registerCluster(table, { id: 'c', mode: 'shadow', api }, now);
  const deps = sweepDeps({
    table,
    now: () => now,
    cluster: async () =>
      clusterApi({
        allows: async ({ resource }: { resource: string }) => ++asked > 0 && answers(resource),
        dryRunCreate: async () => {
          if (refusal) throw new ClusterApiError(refusal, { status: 403 });
        },
      }),
  });
  const meta = async (): Promise<ClusterRecord> => (await readCluster(table, 'c')) as ClusterRecord;
  return {
    table,
    meta,
    asked: () => asked,
    answer(how: typeof answers) {
      answers = how;
    },
    refuseSlices(why: string) {
      refusal = why;
    },
    sweepAfter: async (ms: number) => {
      now += ms;
      for (const asked of dueForCheck(deps, [await meta()])) await checkPermissions(deps, asked);
    },
  };
}

it('in shadow mode the rights of the writer are asked for every ten minutes, and noted', async () => {
  const { meta, asked, answer, sweepAfter } = await shadowCluster();
  await sweepAfter(0);
  expect((await meta()).readiness.rights).toEqual({ atMs: 1_000_000, missing: [], optIn: [] });
  const once = asked();
  await sweepAfter(9 * 60_000);
  expect(asked()).toBe(once);
  answer((resource) => resource !== 'events');
  await sweepAfter(60_000);
  expect((await meta()).readiness.rights).toEqual({
    atMs: 1_600_000,
    missing: ['create events', 'patch events'],
    optIn: ['create events', 'patch events'],
  });
  answer(() => {
    throw new Error('unauthorized');
  });
  await sweepAfter(600_000);
  expect((await meta()).readiness.rights).toMatchObject({ error: 'unauthorized' });
  answer(() => true);
  await sweepAfter(60_000);
  expect((await meta()).readiness.rights).toEqual({ atMs: 2_260_000, missing: [], optIn: [] });
});

it('an active cluster is not checked, but a paused one or one stopped by a second writer is: it may be active again', async () => {
  const { table, asked, sweepAfter } = await shadowCluster();
  await switchMode(table, 'c', 'active', 1_000_000);
  await sweepAfter(0);
  expect(asked()).toBe(0);
  await recordWriterConflict(table, (await readCluster(table, 'c')) as ClusterRecord, 1_000_000);
  await sweepAfter(0);
  const stopped = asked();
  expect(stopped).toBeGreaterThan(0);
  await switchMode(table, 'c', 'paused', 1_000_000);
  await sweepAfter(600_000);
  expect(asked()).toBeGreaterThan(stopped);
});

it('an active cluster is asked whose services that opt in are only tried, and a policy that would refuse their slices is noted', async () => {
  const { table, meta, asked, refuseSlices, sweepAfter } = await shadowCluster();
  await switchMode(table, 'c', 'active', 1_000_000);
  await switchOptIn(table, 'c', 'shadow', 1_000_000);
  refuseSlices('labelled otherwise');
  await sweepAfter(0);
  expect((await meta()).readiness.rights).toMatchObject({
    missing: [],
    optIn: ['a slice would be refused: labelled otherwise'],
  });
  const once = asked();
  await switchOptIn(table, 'c', 'active', 1_000_000);
  await sweepAfter(600_000);
  expect(asked()).toBe(once);
});
