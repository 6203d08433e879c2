/** A Pod that one worker knows and another does not: its record is written, and the entry of the pod log is still to come. */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { podLogDefaults } from '#shared/contract/ingest-limits.ts';
import { encodeProjection, project } from '#shared/kube/projection.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { putLogEntry, takeLogNumber } from '#shared/pods/logged/pod-log.ts';
import { NamespacePods } from '#shared/pods/namespace-pods.ts';
import type { Pods } from '#shared/pods/view.ts';
import { putObject, readObject } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';

async function withWorkers() {
  let worker = new NamespacePods({ ...podLogDefaults, maxUnlogged: 0 });
  const kept: Pods = { viewOf: (...call) => worker.viewOf(...call) };
  const { world, pass } = await smallCluster([aService(), ...pods(3)], { pods: kept });
  const store = { table: world.table, cluster };
  await pass(8);
  let runs = 0;
  const hands = {
    /** Returns the ready addresses in the outputs after a run of that worker. */
    async shownBy(next: NamespacePods): Promise<readonly (readonly string[])[]> {
      worker = next;
      world.store.apply({ ...aService(), metadata: { ...aService().metadata, labels: { run: String(++runs) } } });
      await pass(8);
      const endpoints = world.store.get('Endpoints', 'default', 'svc') as unknown as Endpoints;
      const slices = world.store.list('EndpointSlice') as readonly unknown[] as readonly EndpointSlice[];
      expect(endpoints.metadata.labels).toMatchObject({ run: String(runs) });
      return [
        (endpoints.subsets ?? []).flatMap((s) => s.addresses ?? []).map((a) => a.targetRef?.name ?? ''),
        slices
          .filter((s) => s.addressType === 'IPv4')
          .flatMap((s) => s.endpoints ?? [])
          .filter((e) => e.conditions?.ready)
          .map((e) => e.targetRef?.name ?? '')
          .sort(),
      ];
    },
    warm: worker,
    async begin(name: string, pod: RawObject | undefined): Promise<void> {
      const projection = pod && encodeProjection('Pod', project('Pod', pod as never));
      const version = versionOf(1, '1000');
      const record = { namespace: 'default', name, version, projection, unnotifiedLabels: undefined, deletedAtMs: world.now };
      expect(await putObject(store, 'Pod', record, await readObject(store, 'Pod', 'default', name))).toBe(true);
    },
    async overtake(writers: number): Promise<void> {
      for (; writers > 0; writers--) {
        await putLogEntry(store, 'default', await takeLogNumber(store, 'default'), { names: new Set(['other']), nowMs: world.now });
      }
    },
    /** The writer has its number, and crashes or is slow to put its entry. */
    takeNumber: () => takeLogNumber(store, 'default'),
  };
  // A worker caches a large namespace with its second read.
  await hands.shownBy(worker);
  expect(worker.cached).toEqual([`${cluster}/default`]);
  return hands;
}

const changes: readonly (readonly [string, string, RawObject | undefined, readonly string[]])[] = [
  ['a new Pod', 'pod-3', aPod(3), ['pod-0', 'pod-1', 'pod-2', 'pod-3']],
  ['a Pod that is deleted', 'pod-0', undefined, ['pod-1', 'pod-2']],
  ['a Pod that is ready no more', 'pod-0', aPod(0, { ready: false }), ['pod-1', 'pod-2']],
];

it.each(changes.flatMap((c) => [0, 1, 60, 180].flatMap((n) => [false, true].map((hasNumber) => [...c, n, hasNumber] as const))))(
  'the changes of one worker to %s are not undone by another worker while the writer of %s is in flight, %#',
  async (_what, name, pod, expected, others, hasNumber) => {
    const { shownBy, warm, begin, overtake, takeNumber } = await withWorkers();
    await begin(name, pod);
    if (hasNumber) await takeNumber();
    await overtake(others);
    expect(await shownBy(new NamespacePods())).toEqual([expected, expected]);
    expect(await shownBy(warm)).toEqual([expected, expected]);
    expect(await shownBy(warm)).toEqual([expected, expected]);
  },
);
