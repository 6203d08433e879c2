import { expect, it } from 'vitest';
import { RunPods } from '#functions/sync/state/run-pods.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import type { Pod } from '#shared/kube/types.ts';
import { type CachedPods, LoggedView } from '#shared/pods/logged/logged-view.ts';
import type { OutputChange } from '#shared/pods/view.ts';
import { decodeObjectOf, putObject, readObject } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { RequeueAfter } from '#shared/workqueue/rules/outcome.ts';
import { memoryTable } from '#test/support/table-memory.ts';
import { pod } from '../kube/objects.ts';

/** Creates a table with the Pods, and a run by its worker's cached Pods. `reads` are the names of Pods that the run reads, with "*" for all. */
async function run(stored: readonly Pod[], of: { readonly cached?: readonly Pod[]; readonly fresh?: CachedPods['fresh'] }) {
  const table = memoryTable();
  const reads: string[] = [];
  const store = {
    cluster: 'c',
    table: {
      ...table,
      get: (key: Parameters<typeof table.get>[0]) => {
        reads.push(key.sk);
        return table.get(key);
      },
      query: (pk: string) => {
        reads.push('*');
        return table.query(pk);
      },
    },
  };
  const asStored: Pod[] = [];
  for (const p of stored) {
    const record = { namespace: 'ns', name: p.metadata.name, version: versionOf(1, '5'), projection: encodeProjection('Pod', p) };
    await putObject({ table, cluster: 'c' }, 'Pod', { ...record, unnotifiedLabels: undefined, deletedAtMs: 0 }, undefined);
    asStored.push(decodeObjectOf('Pod', await readObject({ table, cluster: 'c' }, 'Pod', 'ns', p.metadata.name)) as Pod);
  }
  const pods = new Map((of.cached ?? asStored).map((p) => [p.metadata.name, p]));
  const view = new LoggedView({ store, namespace: 'ns', pods, fresh: of.fresh ?? new Set(), limits: { maxChanged: 2, maxBytes: 1 << 20 } });
  const runPods = new RunPods({ random: () => 0 }, view, ({ metadata: { labels } }) => labels?.['app'] === 'web');
  return { runPods, reads };
}

const names = (pods: readonly Pod[]): readonly string[] => pods.map((p) => p.metadata.name).sort();
/** A plan that brings an endpoint of each of these Pods. */
const changes =
  (...all: readonly string[]) =>
  (): OutputChange => ({
    before: [],
    after: [{ addressType: 'IPv4', endpoints: all.map((name) => ({ addresses: ['1.2.3.4'], targetRef: { name } })) }],
  });

it('a plan that changes fresh Pods, or none, is confirmed', async () => {
  const { runPods, reads } = await run([pod('a'), pod('b')], { fresh: new Set(['a', 'gone']) });
  expect(await runPods.plan(names, changes())).toEqual(['a', 'b']);
  expect(await runPods.plan(names, changes('a', 'gone'))).toEqual(['a', 'b']);
  expect(reads).toEqual([]);
});

it('stale Pods are read, once for both controllers, and the plan is made again where one of them is another', async () => {
  const { runPods, reads } = await run([pod('a'), pod('b')], { cached: [pod('a', { ready: false }), pod('gone')] });
  let plans = 0;
  const planWith = (pods: readonly Pod[]) => ({ names: names(pods), number: ++plans });
  const both = await Promise.all([runPods.plan(planWith, changes('a', 'gone')), runPods.plan(planWith, changes('gone', 'a'))]);
  expect(both.map((plan) => plan.names)).toEqual([['a'], ['a']]);
  expect(plans).toBe(4);
  expect(reads.sort()).toEqual(['a', 'gone']);
  expect(names(runPods.selected)).toEqual(['a']);
});

it('a Pod that the service does not select any more goes', async () => {
  const { runPods } = await run([pod('a', { labels: { app: 'other' } })], { cached: [pod('a')] });
  expect(await runPods.plan(names, changes('a'))).toEqual([]);
});

it('the plan is not made again if the Pods are equal', async () => {
  const { runPods, reads } = await run([pod('a')], {});
  let plans = 0;
  await runPods.plan(() => ++plans, changes('a'));
  expect([plans, reads]).toEqual([1, ['a']]);
});

it('the plan is not made again if the whole namespace was read and the Pods are equal', async () => {
  const { runPods, reads } = await run([pod('a'), pod('b'), pod('c')], {});
  expect(await runPods.confirms(changes('a', 'b', 'c')())).toBe(true);
  expect(reads).toEqual(['*']);
});

it('if many Pods must be read, the whole namespace is read once', async () => {
  const { runPods, reads } = await run([pod('a'), pod('b'), pod('c'), pod('d', { labels: {} })], { cached: [] });
  expect(await runPods.plan(names, changes('a', 'b', 'c'))).toEqual(['a', 'b', 'c']);
  await runPods.plan(names, changes('d', 'e'));
  expect(reads).toEqual(['*']);
});

it('a table that does not answer postpones the run', async () => {
  const table = { ...memoryTable(), get: () => Promise.reject(new Error('throttled')) };
  const view = new LoggedView({
    store: { table, cluster: 'c' },
    namespace: 'ns',
    pods: new Map(),
    fresh: new Set(),
    limits: { maxChanged: 2, maxBytes: 1 << 20 },
  });
  await expect(new RunPods({ random: () => 0 }, view, () => true).plan(names, changes('a'))).rejects.toThrow(RequeueAfter);
});
