import { expect, it } from 'vitest';
import type { SweepDeps } from '#functions/sweep/deps.ts';
import { judgeOrphan } from '#functions/sweep/orphan.ts';
import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { ClusterApi } from '#shared/cluster/port.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { metaKey } from '#shared/store/keys.ts';
import { fixSession, readSession } from '#shared/store/lists.ts';
import { ingestHub } from '../ingest/hub.ts';

/** The history went back at 1,000 s; a session of before is heard of again. The cluster has come to version 150. */
async function heard({ read, at, away = false }: { readonly read: string; readonly at: number; readonly away?: boolean }) {
  const hub = await ingestHub();
  await hub.emptyLists(100);
  const message = { ...hub.header, type: 'heartbeat', high: { Pod: read }, at, waiting: 0 };
  await fixSession(hub.table, 'c', message.session, 1);
  await hub.table.update(metaKey('c'), { set: { inc: 2, incSince: 1_000_000 } });
  await hub.ingest(message);
  const api = {
    list: async () => {
      if (away) throw new ClusterApiError('connect ECONNREFUSED', { status: 0 });
      return { resourceVersion: '150', items: [] };
    },
  } as unknown as ClusterApi;
  const deps = { ...hub.deps, cluster: async () => api, newId: () => 'id', flush() {} } as SweepDeps;
  const moved = await judgeOrphan(deps, (await readCluster(hub.table, 'c')) as ClusterRecord);
  const after = (await readCluster(hub.table, 'c')) as ClusterRecord;
  return { moved, orphan: after.orphan, toConfirm: after.toConfirm, session: await readSession(hub.table, 'c', message.session) };
}

it('a relay that lives on and has read nothing newer than the cluster holds speaks for its present history', async () => {
  expect(await heard({ read: '140', at: 1_000_001 })).toEqual({
    moved: true,
    orphan: undefined,
    // What it said meanwhile counted for nothing: sweep lists for itself.
    toConfirm: ['Service', 'Pod', 'Node'],
    session: 2,
  });
});

it('one that has read what the cluster has not come to is of the former history', async () => {
  expect(await heard({ read: '151', at: 1_000_001 })).toMatchObject({ moved: false, orphan: undefined, toConfirm: [], session: 1 });
});

it('one that was heard before the history went back is not asked about', async () => {
  expect(await heard({ read: '140', at: 999_999 })).toMatchObject({ moved: false, toConfirm: [], session: 1 });
});

it('while the cluster cannot be asked nothing is decided', async () => {
  expect(await heard({ read: '140', at: 1_000_001, away: true })).toMatchObject({ moved: false, orphan: { high: { Pod: '140' } }, session: 1 });
});
