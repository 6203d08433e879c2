/** Questions of sweep to the APIs of many silent sources. */

import { expect, it } from 'vitest';
import { checkSources } from '#functions/clusterset/sweep/clusterset-sources.ts';
import { SweepRun } from '#functions/sweep/sweep-run.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { clusterApi, sweepDeps } from '#test/support/stage-deps.ts';

it('sweep asks all of forty sources that do not answer, three times each, in one run', async () => {
  const table = memoryTable();
  const ids = Array.from({ length: 40 }, (_, i) => `c-${i}`);
  const records: ClusterRecord[] = [];
  for (const id of ids) {
    await registerCluster(
      table,
      { id, mode: 'shadow', api: { url: `https://${id}`, auth: { type: 'secret', secretArn: 'arn' } } },
      0,
    );
    await saveMembership(table, id, {
      ...noMembership,
      exports: { namespaces: ['shop'] },
      evictAfterSeconds: 300,
    });
    records.push((await readCluster(table, id)) as ClusterRecord);
  }
  const asked = new Map<string, number>();
  // Each question takes three seconds. Questions that wait at the same time take three seconds together.
  let nowMs = 1_000_000;
  let waiting: (() => void)[] = [];
  const identity = async (id: string): Promise<never> => {
    asked.set(id, (asked.get(id) ?? 0) + 1);
    await new Promise<void>((resolve) => void waiting.push(resolve));
    throw new ClusterApiError('no route to host', { status: 0 });
  };
  const passTime = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    if (waiting.length === 0) return;
    nowMs += 3_000;
    const answered = waiting;
    waiting = [];
    for (const answer of answered) answer();
    await passTime();
  };
  const deps = sweepDeps({
    table,
    cluster: async ({ id }: ClusterRecord) => clusterApi({ identity: () => identity(id) }),
    now: () => nowMs,
  });
  await Promise.all([checkSources(new SweepRun(deps), records, true), passTime()]);
  expect([...asked.values()]).toEqual(ids.map(() => 3));
});
