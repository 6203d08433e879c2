/** Sweep binds a session that does not fit the record (verify-session.ts). */

import { expect, it } from 'vitest';
import type { SweepDeps } from '#functions/sweep/sweep-deps.ts';
import { verifySession } from '#functions/sweep/verify-session.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { readSession, recordUnverified, type UnboundSession } from '#shared/clusters/relay/sessions.ts';
import { readFence } from '#shared/store/inputs/lists.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { metaKey } from '#shared/store/keys.ts';
import { versionOf } from '#shared/store/version.ts';
import { clusterApi } from '#test/support/stage-deps.ts';
import { pod } from '#test/unit/shared/kube/objects.ts';
import { entry, ingestHub } from '../ingest/hub.ts';

interface Live {
  readonly uid?: string;
  readonly version?: string;
  readonly away?: boolean;
}

/**
 * A hub that has read up to version 100 of cluster u, with a doubtful session; the cluster as it is when
 * sweep looks.
 */
async function judged(
  unbound: Partial<UnboundSession>,
  { uid = 'u', version = '150', away = false }: Live = {},
  set: object = {},
  incarnation = 1,
) {
  const hub = await ingestHub();
  await hub.emptyLists(100);
  await hub.table.update(metaKey('c'), {
    set: { uid: 'u', inc: incarnation, high_Pod: versionOf(incarnation, '100'), ...set },
  });
  const known = { id: 'c', incarnation };
  await recordUnverified(hub.table, known, {
    state: 'unbound',
    session: 's2',
    uid: 'u',
    sinceMs: hub.clock.now,
    ...unbound,
  });
  const before = (await readCluster(hub.table, 'c')) as ClusterRecord;
  const api = clusterApi({
    identity: async () => {
      if (away) throw new ClusterApiError('connect ECONNREFUSED', { status: 0 });
      return uid;
    },
    list: async () => ({ resourceVersion: version, items: [] }),
  });
  const deps = { ...hub.deps, cluster: async () => api, newId: () => 'id', flush() {} } as SweepDeps;
  await verifySession(deps, before);
  const after = (await readCluster(hub.table, 'c')) as ClusterRecord;
  return { hub, before, after, session: await readSession(hub.table, 'c', 's2', hub.clock.now) };
}

it('while a session is in doubt no sync runs, nor after it until the new history has been listed', async () => {
  const { before, after } = await judged({ uid: 'other' }, { uid: 'other' });
  expect([hasSynced(before), hasSynced({ ...before, unverified: undefined })]).toEqual([false, true]);
  expect(hasSynced(after)).toBe(false);
});

it.each<readonly [string, Partial<UnboundSession>, Live, object]>([
  ['the cluster is another one', { uid: 'other' }, { uid: 'other', version: '500' }, {}],
  ['a kind of the cluster is behind what was read of it', {}, { version: '95' }, {}],
  [
    'its relay saw the history go back, and it has come as far again',
    { rewoundAtMs: 5 },
    { version: '150' },
    {},
  ],
  [
    'its relay saw the history go back, and the cluster cannot be asked',
    { rewoundAtMs: 5 },
    { away: true },
    {},
  ],
  [
    'its relay saw the history go back by a slow clock, and a kind of the cluster is behind',
    { rewoundAtMs: 5 },
    { version: '95' },
    { incSince: 6 },
  ],
])('a new incarnation begins when %s', async (_when, unbound, live, set) => {
  const { after, session } = await judged(unbound, live, set);
  expect(after).toMatchObject({
    incarnation: 2,
    uid: unbound.uid ?? 'u',
    unverified: undefined,
    incarnationSinceMs: 1_000_000,
  });
  expect(session).toBe(2);
});

it.each<readonly [string, Partial<UnboundSession>, Live, object]>([
  ['the cluster is as we know it', {}, {}, {}],
  ['another relay saw the same', { rewoundAtMs: 5 }, {}, { incSince: 6 }],
  [
    'another relay saw the same, and the cluster in shadow mode cannot be asked',
    { rewoundAtMs: 5 },
    { away: true },
    { incSince: 6, mode: 'shadow' },
  ],
])('the session belongs to this incarnation when %s', async (_when, unbound, live, set) => {
  const { after, session } = await judged(unbound, live, set);
  expect(after).toMatchObject({ incarnation: 1, unverified: undefined });
  expect(session).toBe(1);
});

it('after a restore a late session belongs to the former incarnation, until its relay sends a heartbeat', async () => {
  const { after, session } = await judged({}, {}, {}, 2);
  expect(after).toMatchObject({ incarnation: 2, unverified: undefined });
  expect(session).toBe(1);
});

it('a session of another cluster is bound to no incarnation while the cluster that answers is the recorded one', async () => {
  const { hub, after, session } = await judged({ uid: 'other' });
  expect(after).toMatchObject({ incarnation: 1, unverified: undefined });
  expect(session).toBe(0);

  // Far ahead of ours, and all of it put aside, now and later.
  const foreign = { ...hub.header, session: 's2', uid: 'other' };
  const tells = { ...hub.live('Pod', 900, entry('Pod', 900, pod('ghost'))), ...foreign };
  const lists = { ...hub.list('Service', 900), ...foreign };
  const beats = { ...foreign, type: 'heartbeat', readUpTo: { Service: '900' }, sentAtMs: 1 };
  for (const _ of ['now', 'later']) expect(await hub.ingest(tells, lists, beats)).toEqual([]);
  expect(hub.queues.quarantine.waiting()).toHaveLength(6);
  expect(await readObject(hub.store, 'Pod', 'ns', 'ghost')).toBeUndefined();
  expect(await readFence(hub.table, 'c', 'Service')).toBe(versionOf(1, '100'));
  expect(await readCluster(hub.table, 'c')).toMatchObject({ unverified: undefined, relay: after.relay });
});

it('a session that reports a step back that began the incarnation belongs to it, also after a restore', async () => {
  const { after, session } = await judged({ rewoundAtMs: 5 }, {}, { incSince: 6 }, 2);
  expect(after).toMatchObject({ incarnation: 2, unverified: undefined });
  expect(session).toBe(2);
});

it.each<readonly [string, Partial<UnboundSession>, Live, object]>([
  ['the cluster cannot be asked', {}, { away: true }, {}],
  [
    'its relay reports a step back that is not newer, and the cluster cannot be asked',
    { rewoundAtMs: 5 },
    { away: true },
    { incSince: 6 },
  ],
  ['the cluster is neither the one nor the other', { uid: 'other' }, { uid: 'third' }, {}],
])('the doubt stays while %s', async (_when, unbound, live, set) => {
  const { after, session } = await judged(unbound, live, set);
  expect(after.unverified).toMatchObject({ session: 's2' });
  expect([after.incarnation, session]).toEqual([1, undefined]);
});

it.each<readonly [string, object, number]>([
  [
    'a cluster in shadow mode is believed to be another one after a minute in which it cannot be asked',
    {},
    2,
  ],
  [
    'a cluster in shadow mode where Services opt in stays in doubt while it cannot be asked',
    { optIn: 'active' },
    1,
  ],
  [
    'a cluster in shadow mode stays in doubt while heartbeats of its known relay come, although they wait in the queue',
    { heartbeatAt: 1_000_000 - 120_000, queueLag: 100 },
    1,
  ],
])('%s', async (_, set, incarnation) => {
  const { after } = await judged(
    { uid: 'other', sinceMs: 1_000_000 - 61_000 },
    { away: true },
    { mode: 'shadow', ...set },
  );
  expect(after.incarnation).toBe(incarnation);
});
