/** Commands for every cluster of a large hub. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { switchClusters } from '#infra/cli/act/cluster-switches.ts';
import { listOfAudit } from '#infra/cli/ask/lists/cluster-list.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { recordAudit } from '#shared/clusters/audit.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
});
afterEach(() => vi.restoreAllMocks());

const ids = Array.from({ length: 40 }, (_, i) => `c-${String(i).padStart(2, '0')}`);

/** `most`: queries that were under way at the same time. */
async function hubOfMany() {
  const table = memoryTable();
  for (const id of ids) {
    await registerCluster(table, { id, mode: 'shadow' }, 0);
    await recordAudit(table, id, { at: '2026-01-01T00:00:00Z', who: 'me', what: `${id} noted` });
  }
  const count = { underWay: 0, most: 0 };
  const { query } = table;
  table.query = async (...call) => {
    if (call[0] === 'CLUSTERS') return query(...call);
    count.most = Math.max(count.most, ++count.underWay);
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    count.underWay--;
    return query(...call);
  };
  const directory = { know: async () => {}, queues: () => memoryClusterQueues(() => 0) };
  const hub = { name: 'the hub', table, directory, now: () => 0 } as unknown as Hub;
  return { hub, count };
}

it('active --all asks sixteen clusters at a time whether they are ready', async () => {
  const { hub, count } = await hubOfMany();
  await expect(switchClusters(hub, 'active', undefined, { all: true })).rejects.toThrow(
    /^c-\d\d stays shadow/,
  );
  expect(count.most).toBe(16);
});

it('shadow --all wakes the services of eight clusters at a time', async () => {
  const { hub, count } = await hubOfMany();
  await switchClusters(hub, 'shadow', undefined, { all: true });
  expect(count.most).toBe(8);
  expect(said.filter((line) => line.endsWith('shadow → shadow, 0 services woken'))).toHaveLength(ids.length);
});

it('audit --all reads sixteen clusters at a time, and lists them in order', async () => {
  const { hub, count } = await hubOfMany();
  await listOfAudit(hub, ids, { color: 'never', isLocalTime: false });
  expect(count.most).toBe(16);
  expect(said).toEqual(ids.map((id) => `2026-01-01T00:00:00Z  ${id}  me  ${id} noted`));
});
