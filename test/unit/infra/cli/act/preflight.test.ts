import { describe, expect, it } from 'vitest';
import { readOverdueRuns } from '#infra/cli/ask/overdue-runs.ts';
import {
  accessFindings,
  type Check,
  controllersOff,
  defaultQuietMs,
  notDeclaredOff,
  onlyControllersLeft,
  recordedFindings,
  shadowFindings,
} from '#infra/cli/ask/readiness/preflight.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi, Right } from '#shared/clusters/api/port.ts';
import { type ClusterRecord, decodeCluster } from '#shared/clusters/record.ts';
import { kinds } from '#shared/kube/types.ts';
import { workKey } from '#shared/store/keys.ts';
import { addGeneration } from '#shared/workqueue/item-store.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const synced = Object.fromEntries(kinds.map((kind) => [`firstList_${kind}`, 1]));
const cluster = (changes: object = {}): ClusterRecord =>
  decodeCluster('c', {
    pk: '',
    sk: '',
    mode: 'shadow',
    inc: 1,
    ...synced,
    heartbeatAt: now - 5_000,
    modeSince: now - 3_600_000,
    ...changes,
  });
const nothing = { services: 0, oldestSeconds: 0 };
const refused = (findings: readonly Check[]): readonly string[] =>
  findings.filter((f) => !f.ok).map((f) => f.check);

it.each([
  ['a cluster that has long been quiet in shadow mode', cluster(), 0, []],
  ['one whose first lists are not complete', cluster({ firstList_Pod: 0 }), 0, ['first lists']],
  ['one whose relay is silent', cluster({ heartbeatAt: now - 120_000 }), 0, ['relay']],
  ['one whose relay was never heard', cluster({ heartbeatAt: 0 }), 0, ['relay']],
  ['one with differences', cluster(), 3, ['shadow']],
  ['one that met a difference a minute ago', cluster({ differenceAt: now - 60_000 }), 0, ['shadow']],
  ['one that is in shadow mode for a minute', cluster({ modeSince: now - 60_000 }), 0, ['shadow']],
  ['one that is paused', cluster({ mode: 'paused' }), 0, ['shadow']],
  ['one that was active until it was paused', cluster({ mode: 'paused', wasActive: 1 }), 3, []],
  ['one that stopped for a second writer', cluster({ mode: 'active' }), 3, []],
  [
    'one that was ready, and differs since nobody writes',
    cluster({ readyAt: now - 300_000, differenceAt: now - 60_000 }),
    3,
    [],
  ],
  [
    'one that was ready two hours ago',
    cluster({ modeSince: 0, readyAt: now - 7_200_000, differenceAt: now - 60_000 }),
    3,
    ['shadow'],
  ],
  [
    'one that was ready before its mode was switched',
    cluster({ readyAt: now - 3_600_001, differenceAt: now }),
    0,
    ['shadow'],
  ],
] as const)('%s', (_, meta, differences, refusals) => {
  expect(refused(shadowFindings(meta, { differences, overdue: nothing }, defaultQuietMs, now))).toEqual(
    refusals,
  );
});

describe('a cluster is not quiet in shadow mode', () => {
  const found = (meta: ClusterRecord, overdue = nothing) =>
    shadowFindings(meta, { differences: 0, overdue }, defaultQuietMs, now).find((f) => f.check === 'shadow');

  it('while services are not compared as they are', () => {
    expect(found(cluster(), { services: 2, oldestSeconds: 90 })).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^2 services have changed .* due for 90 s$/),
    });
  });

  it('while not every service has been woken since it was switched', () => {
    expect(found(cluster({ wakesPending: 1 }))).toMatchObject({
      ok: false,
      detail: expect.stringContaining('some services have not been compared'),
    });
  });
});

it('a service whose comparison fails has a pending run, and a service that has just changed, waits for its time or is done has none', async () => {
  const table = memoryTable();
  const key = (name: string) => ({ cluster: 'c', namespace: 'ns', kind: 'service' as const, name });
  await addGeneration(table, key('fails'), now - 90_000);
  await addGeneration(table, key('just-changed'), now - 5_000);
  await addGeneration(table, key('waits'), now - 90_000);
  await table.update(workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 'waits' }), {
    set: { ep_at: now + 30_000, sl_at: now - 1_000 },
  });
  await addGeneration(table, key('done'), now - 90_000);
  await table.update(workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 'done' }), {
    set: { ep_done: 1, sl_done: 1 },
  });
  expect(await readOverdueRuns(table, cluster(), now)).toEqual({ services: 1, oldestSeconds: 90 });
  // Pods' changes wait for their batch period.
  expect(
    await readOverdueRuns(table, cluster({ settings: JSON.stringify({ batchPeriodSeconds: 60 }) }), now),
  ).toEqual({
    services: 0,
    oldestSeconds: 0,
  });
});

it('running controllers are distinguished from all other findings', () => {
  const ready = shadowFindings(cluster(), { differences: 0, overdue: nothing }, defaultQuietMs, now);
  expect(onlyControllersLeft([...ready, notDeclaredOff])).toBe(true);
  expect(
    onlyControllersLeft([
      ...shadowFindings(cluster(), { differences: 3, overdue: nothing }, defaultQuietMs, now),
      notDeclaredOff,
    ]),
  ).toBe(false);
});

/** An API server that allows rights by a predicate. */
const asked = (
  allows: (what: Right) => boolean,
  dryRunCreate: ClusterApi['dryRunCreate'] = async () => {},
) => ({
  allows: async (right: Right) => allows(right),
  dryRunCreate,
});

it('every right that the writer needs is asked for, and the missing ones are named', async () => {
  expect(
    refused(
      await accessFindings(
        asked(() => true),
        cluster(),
      ),
    ),
  ).toEqual([]);
  const findings = await accessFindings(
    asked(({ verb, resource }) => !(verb === 'delete' && resource === 'endpointslices')),
    cluster(),
  );
  expect(refused(findings)).toEqual(['rights']);
  expect(findings.find((f) => !f.ok)?.detail).toBe('missing: delete endpointslices');
});

describe('the needs of services that opt in', () => {
  const settings = (cleanup: boolean) => cluster({ settings: JSON.stringify({ optInCleanup: cleanup }) });
  const withoutEndpoints = ({ verb, resource }: Right) =>
    resource !== 'endpoints' || ['get', 'list'].includes(verb);
  const detail = async (api: ReturnType<typeof asked>, cleanup = true) =>
    (await accessFindings(api, settings(cleanup), 'opt-in')).find((f) => !f.ok)?.detail;

  it('the rights to write Endpoints are not needed, but the one to delete leftovers, where these are deleted', async () => {
    expect(await detail(asked(withoutEndpoints))).toBe('missing: delete endpoints');
    expect(await detail(asked(withoutEndpoints), false)).toBeUndefined();
    expect(await detail(asked(({ verb }) => verb !== 'update'))).toBe('missing: update endpointslices');
  });

  it('an admission policy that would refuse their slice is found and reported, and a fault is not', async () => {
    const refuse = (status: number) => async () => {
      throw new ClusterApiError('the writer writes slices labelled x only', { status });
    };
    expect(await detail(asked(() => true, refuse(403)))).toBe(
      'missing: a slice would be refused: the writer writes slices labelled x only',
    );
    expect(
      await accessFindings(
        asked(() => true, refuse(503)),
        cluster(),
        'opt-in',
      ),
    ).toMatchObject([{ check: 'reachable', ok: false }]);
    expect(
      refused(
        await accessFindings(
          asked(() => true, refuse(403)),
          cluster(),
        ),
      ),
    ).toEqual([]);
  });

  it.each([
    ['is all there', { at: now - 60_000, missing: ['create endpoints'], optIn: [] }, []],
    ['is missing', { at: now - 60_000, missing: [], optIn: ['a slice would be refused: x'] }, ['rights']],
    ['was asked for an hour ago', { at: now - 3_600_000, missing: [], optIn: [] }, ['rights']],
  ])('the rights that sweep has checked %s', (_, rights, refusals) => {
    expect(refused(recordedFindings(cluster({ rights: JSON.stringify(rights) }), now, 'opt-in'))).toEqual(
      refusals,
    );
  });
});

it('an API server that does not answer is not reachable', async () => {
  const down = {
    allows: async () => {
      throw new Error('connection refused');
    },
    dryRunCreate: async () => {},
  };
  expect(await accessFindings(down, cluster())).toEqual([
    { check: 'reachable', ok: false, detail: 'connection refused' },
  ]);
});

it.each([
  ['never', undefined, ['rights']],
  ['an hour ago', { at: now - 3_600_000, missing: [] }, ['rights']],
  ['lately, and all were there', { at: now - 60_000, missing: [] }, []],
  ['lately, and one was missing', { at: now - 60_000, missing: ['create endpoints'] }, ['rights']],
  ['lately, in vain', { at: now - 60_000, missing: [], error: 'unauthorized' }, ['reachable']],
] as const)('rights that sweep has asked for %s', (_, rights, refusals) => {
  expect(refused(recordedFindings(cluster(rights && { rights: JSON.stringify(rights) }), now))).toEqual(
    refusals,
  );
});

function clusterInMemory() {
  let uids = 0;
  const store = new Store({ now: () => now, uid: () => `uid-${++uids}`, suffix: () => 'x' });
  return { store, api: memoryClusterApi(store, { fieldManager: 'fleet-endpoints' }) };
}

it('a canary Service that gets no Endpoints proves that the controllers are off, and is taken away', async () => {
  const { store, api } = clusterInMemory();
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);
  expect(await controllersOff(api, 'default', 'x', wait)).toMatchObject({ ok: true });
  expect(waits.reduce((a, b) => a + b)).toBe(10_000);
  expect(store.list('Service')).toEqual([]);
});

it('a canary Service that gets Endpoints proves that they are on, and is taken away', async () => {
  const { store, api } = clusterInMemory();
  const controller = async () => {
    for (const { metadata } of store.list('Service')) {
      if (!store.find('Endpoints', 'default', metadata.name))
        store.create('Endpoints', 'default', { metadata: { name: metadata.name } });
    }
  };
  expect(await controllersOff(api, 'default', 'x', controller)).toMatchObject({
    ok: false,
    detail: expect.stringContaining('switch them off'),
  });
  expect(store.list('Service')).toEqual([]);
});

it('if no canary can be created, an operator has to confirm', async () => {
  const { api } = clusterInMemory();
  expect(await controllersOff(api, 'no-such-namespace', 'x', async () => {})).toMatchObject({
    ok: false,
    detail: expect.stringContaining('--controllers-off'),
  });
});
