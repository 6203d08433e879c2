import { expect, it } from 'vitest';
import { sendOwnLists } from '#functions/sweep/own-list.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { requestOwnList } from '#shared/clusters/relay/first-lists.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { ListPartMessage } from '#shared/queue/messages.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { pod as anyPod } from '#test/support/objects.ts';
import { clusterApi, sweepDeps } from '#test/support/stage-deps.ts';

const pod = (name: string, labelBytes: number) =>
  anyPod(name, { labels: { l: 'v'.repeat(labelBytes) }, resourceVersion: '5', spec: { containers: [] } });

/** Sweep makes the list of a cluster whose API has these pods. */
async function confirmed(pods: Iterable<object>, deadlineMs?: number) {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 0);
  await requestOwnList(table, 'c', 'Pod', versionOf(1, '5'));
  const queues = memoryClusterQueues(() => 0);
  let listed = 0;
  const list = async (_kind: string, _namespace: string, { keep }: { keep: (o: object) => object }) => {
    const items: object[] = [];
    for (const each of pods) {
      listed++;
      items.push(keep(each));
    }
    return { resourceVersion: '7', items };
  };
  const deps = sweepDeps({
    table,
    queues: () => queues,
    cluster: async () => clusterApi({ list: list as ClusterApi['list'] }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  const meta = (await readCluster(table, 'c')) as ClusterRecord;
  const error = await sendOwnLists(deps, meta).then(
    () => undefined,
    (e: unknown) => e,
  );
  const bodies = queues.events.waiting().map((m) => m.body);
  const toConfirm = (await readCluster(table, 'c'))?.lists.ownListsWanted;
  return {
    error,
    bodies,
    parts: bodies.map((b) => decodeMessage(b) as ListPartMessage),
    toConfirm,
    listed: () => listed,
  };
}

it('sweep’s own list is in parts that the queue takes, and names the object that no message holds', async () => {
  const sizes = [10, ...Array.from({ length: 77 }, () => 60_000), 70_000, 10];
  const names = sizes.map((_, i) => `p-${10 + i}`);
  const { bodies, parts, toConfirm } = await confirmed(sizes.map((size, i) => pod(`${names[i]}`, size)));
  expect(
    parts.map(({ from, to, entries, omitted, isLast }) => [
      from,
      to,
      entries.map((e) => e.name),
      omitted,
      isLast,
    ]),
  ).toEqual([
    ['', 'ns/p-49', names.slice(0, 40), undefined, undefined],
    ['ns/p-49', '', [...names.slice(40, 78), 'p-89'], ['ns/p-88'], true],
  ]);
  for (const body of bodies) expect(body.length).toBeLessThan(1 << 20);
  expect(toConfirm).toEqual([]);
});

it('an own list is sent where the time left is no whole number of milliseconds', async () => {
  const { error, bodies } = await confirmed([pod('p-0', 10)], 45_000.93);
  expect({ error, lists: bodies.length }).toEqual({ error: undefined, lists: 1 });
});

it('an API server that lists without an end is broken off before it fills the memory that all clusters share', async () => {
  function* endless() {
    for (let i = 0; i < 20_000; i++) yield pod(`p-${i}`, 250_000);
  }
  const { error, parts, toConfirm, listed } = await confirmed(endless());
  expect(String(error)).toContain(
    'the list of every Pod has more than 268435456 bytes: sweep makes none that is larger',
  );
  expect(listed()).toBeLessThan(2_000);
  expect([parts, toConfirm]).toEqual([[], ['Pod']]);
});

it.each([
  ['7', []],
  ['8', ['Pod']],
])(
  'a request during sweep’s list of version 7, for a relay’s list of version %s, leaves %j to be listed',
  async (rv, left) => {
    const table = memoryTable();
    await registerCluster(table, { id: 'c', mode: 'active' }, 0);
    await requestOwnList(table, 'c', 'Pod', versionOf(1, '5'));
    const queues = memoryClusterQueues(() => 0);
    const list = async () => {
      expect(await requestOwnList(table, 'c', 'Pod', versionOf(1, rv))).toBe(false);
      return { resourceVersion: '7', items: [] };
    };
    const deps = sweepDeps({
      table,
      queues: () => queues,
      cluster: async () => clusterApi({ list: list as ClusterApi['list'] }),
    });
    await sendOwnLists(deps, (await readCluster(table, 'c')) as ClusterRecord);
    expect((await readCluster(table, 'c'))?.lists.ownListsWanted).toEqual(left);
  },
);

it('a kind that cannot be listed keeps no other kind from being listed', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 0);
  for (const kind of ['Service', 'Pod', 'Node'] as const)
    await requestOwnList(table, 'c', kind, versionOf(1, '5'));
  const queues = memoryClusterQueues(() => 0);
  const list = async (kind: string) => {
    if (kind === 'Service') throw new Error('no Services');
    return { resourceVersion: '7', items: [] };
  };
  const deps = sweepDeps({
    table,
    queues: () => queues,
    cluster: async () => clusterApi({ list: list as ClusterApi['list'] }),
  });
  await expect(sendOwnLists(deps, (await readCluster(table, 'c')) as ClusterRecord)).rejects.toThrow(
    'no Services',
  );
  expect((await readCluster(table, 'c'))?.lists.ownListsWanted).toEqual(['Service']);
});
