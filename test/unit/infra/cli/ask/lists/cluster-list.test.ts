/** `cluster list --watch` prints again when the state of a cluster changes. */
import { afterEach, expect, it, vi } from 'vitest';
import { listOfClusters } from '#infra/cli/ask/lists/cluster-list.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { markFirstListApplied } from '#shared/clusters/relay/first-lists.ts';
import { recordHeartbeat } from '#shared/clusters/relay/relay-state.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { kinds } from '#shared/kube/types.ts';
import { versionOf } from '#shared/store/version.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeUp } from '#shared/workqueue/rules/message.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

afterEach(() => vi.restoreAllMocks());

it('a switch, the first heartbeat, silence, late events and a wrong clock are changes; a further heartbeat is not', async () => {
  const table = memoryTable();
  let now = Date.parse('2026-01-02T00:00:00Z');
  const queues = { events: 'e', syncs: 's', parked: 'p', quarantine: 'q' };
  await registerCluster(table, { id: 'a', mode: 'active', settings: {}, queues }, now);
  const heartbeat = async (queueLagSeconds: number, clockAheadSeconds: number): Promise<void> => {
    const heard = {
      heartbeatAtMs: now - queueLagSeconds * 1000,
      queueLagSeconds,
      clockAheadSeconds,
      readUpTo: {},
    };
    await recordHeartbeat(table, (await readCluster(table, 'a')) as ClusterRecord, heard);
  };
  for (const kind of kinds)
    await markFirstListApplied(
      table,
      (await readCluster(table, 'a')) as ClusterRecord,
      kind,
      versionOf(1, '1'),
    );
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const print = listOfClusters({ table, now: () => now } as unknown as Hub, {
    color: 'never',
    isLocalTime: false,
  });
  const printed = async (): Promise<string | undefined> => {
    lines.length = 0;
    await print();
    return lines.at(-1);
  };
  expect(await printed()).toMatch(/^a +active /);
  expect(await printed()).toBeUndefined();
  await heartbeat(0, 0);
  expect(await printed()).toMatch(/^a +active .* s ago /);
  now += 10_000;
  await heartbeat(1, -2);
  expect(await printed()).toBeUndefined();
  await switchMode(table, 'a', 'paused', now);
  expect(await printed()).toMatch(/^a +paused /);
  now += 120_000;
  expect(await printed()).toMatch(/^a {2}as of .*: the relay is silent since$/);
  expect(lines.slice(0, 2)).toEqual(['', '2026-01-02T00:02:10.000Z']);

  await heartbeat(60, 0);
  expect(await printed()).toBe('a  events come late: the last heartbeat waited 60 s in the events queue');
  now += 30_000;
  await heartbeat(65, 0);
  expect(await printed()).toBeUndefined();
  now += 30_000;
  await heartbeat(0, 34);
  expect(await printed()).toBe("a  the clock of the relay's node is 34 s ahead of the hub's");
});

it('work that is overdue for more than a minute is told, once in a watch', async () => {
  const table = memoryTable();
  let now = Date.parse('2026-01-02T00:00:00Z');
  await registerCluster(table, { id: 'a', mode: 'active', settings: {} }, now);
  const { syncs } = memoryClusterQueues(() => now, 'a');
  await addWork({ table, now: () => now }, syncs, 'a', [wakeUp('shop', 'web')]);
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const hub = { table, now: () => now } as unknown as Hub;
  const print = listOfClusters(hub, { color: 'never', isLocalTime: false });
  await print();
  expect(lines.join('\n')).not.toContain('overdue');
  now += 90_000;
  await print();
  expect(lines.at(-1)).toBe('a  work is overdue for 90 s');
  lines.length = 0;
  now += 1_000;
  await print();
  expect(lines).toEqual([]);
});
