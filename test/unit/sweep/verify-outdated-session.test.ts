/** Sweep decides whether an outdated session belongs to the present history (verify-session.ts). */

import { expect, it } from 'vitest';
import type { SweepDeps } from '#functions/sweep/sweep-deps.ts';
import { verifySession } from '#functions/sweep/verify-session.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { bindSession, readSession } from '#shared/clusters/relay/sessions.ts';
import { metaKey } from '#shared/store/keys.ts';
import { clusterApi } from '#test/support/stage-deps.ts';
import { ingestHub } from '../ingest/hub.ts';

/**
 * The history went back at 1,000 s, and an earlier session sends again. The cluster has reached version 150.
 */
async function heard({
  read,
  at,
  away = false,
  more = {},
}: {
  readonly read: string;
  readonly at: number;
  readonly away?: boolean;
  readonly more?: object;
}) {
  const hub = await ingestHub();
  await hub.emptyLists(100);
  const message = { ...hub.header, type: 'heartbeat', readUpTo: { Pod: read, ...more }, sentAtMs: at };
  await bindSession(hub.table, { id: 'c', incarnation: 1 }, message.session, hub.clock.now);
  await hub.table.update(metaKey('c'), { set: { inc: 2, incSince: 1_000_000 } });
  hub.clock.now = at;
  await hub.ingest(message);
  const api = clusterApi({
    list: async () => {
      if (away) throw new ClusterApiError('connect ECONNREFUSED', { status: 0 });
      return { resourceVersion: '150', items: [] };
    },
  });
  const deps = { ...hub.deps, cluster: async () => api, newId: () => 'id', flush() {} } as SweepDeps;
  await verifySession(deps, (await readCluster(hub.table, 'c')) as ClusterRecord);
  const after = (await readCluster(hub.table, 'c')) as ClusterRecord;
  return {
    unverified: after.unverified,
    ownLists: after.lists.ownListsWanted,
    session: await readSession(hub.table, 'c', message.session, hub.clock.now),
    missing: missingFirstLists(after),
  };
}

it('a live relay that has read nothing newer than the cluster’s version belongs to its present history', async () => {
  expect(await heard({ read: '140', at: 1_000_001 })).toEqual({
    unverified: undefined,
    // The session's messages meanwhile were ignored, so sweep makes its own lists.
    ownLists: ['Service', 'Pod', 'Node'],
    session: 2,
    missing: ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice'],
  });
});

it('outputs that the session has read are not waited for: the relay lists them again after hours only', async () => {
  const more = { Endpoints: '140', EndpointSlice: '140' };
  expect(await heard({ read: '140', at: 1_000_001, more })).toMatchObject({
    missing: ['Service', 'Pod', 'Node'],
  });
});

it('sweep lists the kinds of the Multi-Cluster Services API too if the session has read them: their first lists may be missing', async () => {
  const more = { Namespace: '140', ServiceExport: '140' };
  expect(await heard({ read: '140', at: 1_000_001, more })).toMatchObject({
    ownLists: ['Service', 'Pod', 'Node', 'Namespace', 'ServiceExport'],
  });
});

it('a session that has read newer versions than the cluster has belongs to the former history', async () => {
  expect(await heard({ read: '151', at: 1_000_001 })).toMatchObject({
    unverified: undefined,
    ownLists: [],
    session: 1,
  });
});

it('a session whose last heartbeat was before the history went back is not checked', async () => {
  expect(await heard({ read: '140', at: 999_999 })).toMatchObject({
    unverified: undefined,
    ownLists: [],
    session: 1,
  });
});

it('while the cluster cannot be asked nothing is decided', async () => {
  expect(await heard({ read: '140', at: 1_000_001, away: true })).toMatchObject({
    unverified: { readUpTo: { Pod: '140' } },
    session: 1,
  });
});
