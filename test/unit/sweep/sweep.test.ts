import { expect, it } from 'vitest';
import { sweep } from '#functions/sweep/sweep.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { requestOwnList } from '#shared/clusters/relay/first-lists.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { saveDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

/** `last`: the newest value of each metric, by "cluster metric". */
async function hubOf(...clusters: readonly string[]) {
  const table = memoryTable();
  for (const id of clusters) await registerCluster(table, { id, mode: 'shadow' }, 0);
  const last = new Map<string, number>();
  const deps = sweepDeps({
    table,
    cluster: async () => Promise.reject(new Error('not asked here')),
    metrics: { put: (name, value, dimensions) => void last.set(`${dimensions?.cluster} ${name}`, value) },
  });
  return { table, last, deps };
}

/** Fails where overdue work of that cluster is looked for. */
const failingFor = (table: Table, cluster: string, error: Error): Table => ({
  ...table,
  queryDirty: (partition, until, limit) =>
    partition === cluster ? Promise.reject(error) : table.queryDirty(partition, until, limit),
});

it('a failing cluster does not stop the other steps, and is reported in the end', async () => {
  const { table, last, deps } = await hubOf('a', 'b', 'c');
  await expect(sweep({ ...deps, table: failingFor(table, 'b', new Error('refused')) })).rejects.toThrow(
    'sweep could not finish: reportCluster of b',
  );
  for (const cluster of ['a', 'c']) expect(last.get(`${cluster} OldestDirtyAge`)).toBe(0);
  expect(last.get('b ShadowDifferences')).toBe(0);
  expect(last.has('b OldestDirtyAge')).toBe(false);
});

it('each run writes a line without any cluster too: the alarm MetricsSilent takes no line for lost logs', async () => {
  const { deps } = await hubOf();
  const lines: string[] = [];
  await sweep({ ...deps, log: { ...deps.log, info: (message) => void lines.push(message) } });
  expect(lines).toEqual(['clusters reported']);
});

it('a cluster that cannot be asked is no failure of its own', async () => {
  const { table, last, deps } = await hubOf('a');
  const error = new ClusterApiError('GET https://a.example: timed out', {});
  await sweep({ ...deps, table: failingFor(table, 'a', error) });
  expect(last.get('a ShadowDifferences')).toBe(0);
});

it('sweep publishes the current number of services that differ, as long as they do', async () => {
  const { table, last, deps } = await hubOf('a', 'b');
  const differ = (name: string, confirmed: boolean | undefined) =>
    saveDifference(
      table,
      { cluster: 'a', namespace: 'ns', name },
      confirmed === undefined ? undefined : { text: '[]', sinceMs: 1, confirmed },
    );
  await differ('x', true);
  await differ('y', true);
  await differ('seen-once', false);
  for (const expected of [2, 2]) {
    await sweep(deps);
    expect([last.get('a ShadowDifferences'), last.get('b ShadowDifferences')]).toEqual([expected, 0]);
  }
  await differ('x', undefined);
  await sweep(deps);
  expect(last.get('a ShadowDifferences')).toBe(1);
});

it('lists to be confirmed come after the other steps of every cluster, and the metrics are published before', async () => {
  const { table, last, deps } = await hubOf('a', 'b');
  await registerCluster(table, { id: 'z', mode: 'active' }, 0);
  await switchMode(table, 'a', 'active', 0);
  await requestOwnList(table, 'a', 'Pod', versionOf(1, '1'));
  const order: string[] = [];
  const cluster = async () => {
    order.push(`asked, ages known: ${['a', 'b', 'z'].every((id) => last.has(`${id} OldestDirtyAge`))}`);
    throw new ClusterApiError('down', {});
  };
  await sweep({ ...deps, cluster, flush: () => void order.push('flushed') });
  expect(order).toEqual(['flushed', 'flushed', 'flushed', 'asked, ages known: true']);
});
