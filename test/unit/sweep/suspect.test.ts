import { expect, it } from 'vitest';
import type { SweepDeps } from '#functions/sweep/deps.ts';
import { judgeSuspect } from '#functions/sweep/suspect.ts';
import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { ClusterApi } from '#shared/cluster/port.ts';
import { type ClusterRecord, isSynced, readCluster, type Suspect } from '#shared/clusters/record.ts';
import { metaKey } from '#shared/store/keys.ts';
import { readFence, readSession } from '#shared/store/lists.ts';
import { readObject } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { entry, ingestHub } from '../ingest/hub.ts';
import { pod } from '../kube/objects.ts';

interface Live {
  readonly uid?: string;
  readonly version?: string;
  readonly away?: boolean;
}

/** A hub that has read up to version 100 of cluster u, with a doubtful session; the cluster as it is when sweep looks. */
async function judged(suspect: Partial<Suspect>, { uid = 'u', version = '150', away = false }: Live = {}, set: object = {}) {
  const hub = await ingestHub();
  await hub.emptyLists(100);
  const doubt: Suspect = { session: 's2', uid: 'u', base: '90', since: hub.clock.now, ...suspect };
  await hub.table.update(metaKey('c'), {
    set: { uid: 'u', suspect: JSON.stringify(doubt), high_Pod: versionOf(1, '100'), ...set },
  });
  const before = (await readCluster(hub.table, 'c')) as ClusterRecord;
  const api = {
    identity: async () => {
      if (away) throw new ClusterApiError('connect ECONNREFUSED', { status: 0 });
      return uid;
    },
    list: async () => ({ resourceVersion: version, items: [] }),
  } as unknown as ClusterApi;
  const deps = { ...hub.deps, cluster: async () => api, newId: () => 'id', flush() {} } as SweepDeps;
  await judgeSuspect(deps, before);
  const after = (await readCluster(hub.table, 'c')) as ClusterRecord;
  return { hub, before, after, session: await readSession(hub.table, 'c', 's2') };
}

it('while a session is in doubt no sync runs, nor after it until the new history has been listed', async () => {
  const { before, after } = await judged({ uid: 'other' }, { uid: 'other' });
  expect([isSynced(before), isSynced({ ...before, suspect: undefined })]).toEqual([false, true]);
  expect(isSynced(after)).toBe(false);
});

it.each<readonly [string, Partial<Suspect>, Live]>([
  ['the cluster is another one', { uid: 'other' }, { uid: 'other', version: '500' }],
  ['a kind of the cluster is behind what was read of it', {}, { version: '95' }],
  ['its relay saw the history go back, and it has come as far again', { wentBackAt: 5 }, { version: '150' }],
  ['its relay saw the history go back, and the cluster cannot be asked', { wentBackAt: 5 }, { away: true }],
])('a new incarnation begins when %s', async (_when, suspect, live) => {
  const { after, session } = await judged(suspect, live);
  expect(after).toMatchObject({ incarnation: 2, uid: suspect.uid ?? 'u', suspect: undefined, incarnationSince: 1_000_000 });
  expect(session).toBe(2);
});

it.each<readonly [string, Partial<Suspect>, Live, object]>([
  ['the cluster is as we know it', {}, {}, {}],
  ['another relay saw the same', { wentBackAt: 5 }, {}, { incSince: 6 }],
])('the session belongs to this incarnation when %s', async (_when, suspect, live, set) => {
  const { after, session } = await judged(suspect, live, set);
  expect(after).toMatchObject({ incarnation: 1, suspect: undefined });
  expect(session).toBe(1);
});

it('a session of another cluster belongs to no incarnation while the cluster that answers is the one that we know', async () => {
  const { hub, after, session } = await judged({ uid: 'other' });
  expect(after).toMatchObject({ incarnation: 1, suspect: undefined });
  expect(session).toBe(0);

  // Far ahead of ours, and all of it put aside, now and later.
  const foreign = { ...hub.header, session: 's2', uid: 'other' };
  const tells = { ...hub.live('Pod', 900, entry('Pod', 900, pod('ghost'))), ...foreign };
  const lists = { ...hub.list('Service', 900), ...foreign };
  const beats = { ...foreign, type: 'heartbeat', high: { Service: '900' }, at: 1, waiting: 0 };
  for (const _ of ['now', 'later']) expect(await hub.ingest(tells, lists, beats)).toEqual([]);
  expect(hub.queues.quarantine.waiting()).toHaveLength(6);
  expect(await readObject({ table: hub.table, cluster: 'c' }, 'Pod', 'ns', 'ghost')).toBeUndefined();
  expect(await readFence(hub.table, 'c', 'Service')).toBe(versionOf(1, '100'));
  expect(await readCluster(hub.table, 'c')).toMatchObject({ suspect: undefined, orphan: undefined, heartbeatAt: after.heartbeatAt });
});

it.each<readonly [string, Partial<Suspect>, Live]>([
  ['the cluster cannot be asked', {}, { away: true }],
  ['the cluster is neither the one nor the other', { uid: 'other' }, { uid: 'third' }],
])('the doubt stays while %s', async (_when, suspect, live) => {
  const { after, session } = await judged(suspect, live);
  expect(after.suspect).toMatchObject({ session: 's2' });
  expect([after.incarnation, session]).toEqual([1, undefined]);
});
