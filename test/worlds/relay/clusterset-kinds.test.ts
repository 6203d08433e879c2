/** The kinds of the Multi-Cluster Services API, which a cluster may be without. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ClustersetKind } from '#shared/kube/types.ts';
import { type FakeObject, type Fault, FaultyApi, json, refuse } from '#test/support/network/faulty-api.ts';
import { type RelayRun, runRelay } from './run-relay.ts';

let api: FaultyApi;
let run: RelayRun;

beforeEach(async () => {
  api = await new FaultyApi().start();
});
afterEach(async () => {
  await run.stop().catch(() => {});
  await api.close();
});

const until = (holds: () => unknown) =>
  vi.waitFor(() => expect(holds()).toBeTruthy(), { timeout: 120_000, interval: 5 });
const anExport: FakeObject = {
  kind: 'ServiceExport',
  metadata: { namespace: 'shop', name: 'web' },
  spec: {},
};
const isSent = (kind: ClustersetKind, key: string) => run.state(kind).has(key);
const isWatched = (plural: string) => (api.watches.get(plural)?.size ?? 0) > 0;

it('exports and namespaces are listed and watched by a relay of a cluster that takes part in a set, and by no other', async () => {
  api.put({ kind: 'Namespace', metadata: { name: 'shop' } });
  api.put(anExport);
  run = runRelay(api.url, { clusterset: true });
  await until(() => isSent('ServiceExport', 'shop/web') && isSent('Namespace', '/shop'));
  await until(() => isWatched('serviceexports') && isWatched('serviceimports'));
  api.put({ ...anExport, metadata: { namespace: 'shop', name: 'api' } });
  await until(() => isSent('ServiceExport', 'shop/api'));
  await until(() => run.heartbeats().some((h) => h.readUpTo.ServiceExport !== undefined));
  await run.stop();

  run = runRelay(api.url);
  api.requests.length = 0;
  await until(() => run.relay.isReady && run.heartbeats().length > 0);
  expect(api.requests.filter((r) => /serviceexports|serviceimports/.test(r.plural))).toEqual([]);
});

it('a kind that a cluster does not have keeps no relay from being ready, sends nothing, and is found when it is installed (MC-52)', async () => {
  let isInstalled = false;
  const missing: Fault = (response, request, usual) =>
    isInstalled ? usual() : refuse(404, 'NotFound')(response, request, usual);
  for (const verb of ['look', 'list', 'watch']) api.next(`${verb} serviceexports`, missing, 1_000);
  run = runRelay(api.url, { clusterset: true });
  await until(() => run.relay.isReady && isWatched('serviceimports'));
  await until(() =>
    run.logged.some(
      (l) => l.message.startsWith('kind is not served') && l.fields['kind'] === 'ServiceExport',
    ),
  );
  expect(run.lists('ServiceExport')).toEqual([]);
  api.put(anExport);
  isInstalled = true;
  await until(() => isSent('ServiceExport', 'shop/web') && isWatched('serviceexports'));
});

it('a kind that is taken out of a cluster is not a list without objects: nothing is sent of it until it is back', async () => {
  let isInstalled = true;
  const missing: Fault = (response, request, usual) =>
    isInstalled ? usual() : refuse(404, 'NotFound')(response, request, usual);
  for (const verb of ['look', 'list', 'watch']) api.next(`${verb} serviceexports`, missing, 1_000);
  api.put(anExport);
  run = runRelay(api.url, { clusterset: true });
  await until(() => isSent('ServiceExport', 'shop/web') && isWatched('serviceexports'));
  const sent = run.lists('ServiceExport').length;
  isInstalled = false;
  api.hangUp('ServiceExport');
  await until(() =>
    run.logged.some(
      (l) => l.message.startsWith('kind is not served') && l.fields['kind'] === 'ServiceExport',
    ),
  );
  expect(run.lists('ServiceExport')).toHaveLength(sent);
  expect(run.live('ServiceExport')).toEqual([]);
  expect(run.relay.isReady).toBe(true);
  isInstalled = true;
  await until(() => isWatched('serviceexports'));
});

const crd = 'list serviceexports.multicluster.x-k8s.io';
const served = () => run.relay.gauges().find((g) => g.name === 'relay_kind_served')?.values;
const isGone = () =>
  run.logged.some((l) => l.message.startsWith('kind is not served') && l.fields['kind'] === 'ServiceExport');

it('exports that go one by one with their CRD are not taken back: nothing of them is sent, and the kind counts as missing (MC-52)', async () => {
  let isGoing = false;
  const going: Fault = (response, _, usual) =>
    isGoing
      ? json(response, 200, {
          metadata: {
            name: 'serviceexports.multicluster.x-k8s.io',
            deletionTimestamp: '2026-01-01T00:00:00Z',
          },
        })
      : usual();
  api.next(crd, going, 1_000);
  const others = ['api', 'db'].map(
    (name): FakeObject => ({ ...anExport, metadata: { namespace: 'shop', name } }),
  );
  for (const object of [anExport, ...others]) api.put(object);
  run = runRelay(api.url, { clusterset: true });
  await until(() => isSent('ServiceExport', 'shop/web') && isWatched('serviceexports'));
  expect(served()).toContainEqual(['{kind="ServiceExport"}', 1]);
  const sent = run.lists('ServiceExport').length;
  isGoing = true;
  api.put({
    ...anExport,
    metadata: {
      namespace: 'shop',
      name: 'web',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['example.com/slow'],
    },
  });
  for (const object of [...others, anExport]) api.remove(object);
  await until(isGone);
  // The relay reads the CRD each minute. The CRD still exists, with the remaining objects.
  const asked = api.count(crd);
  await until(() => api.count(crd) > asked + 1);
  expect(run.live('ServiceExport')).toEqual([]);
  expect(run.lists('ServiceExport')).toHaveLength(sent);
  expect(run.relay.isReady).toBe(true);
  expect(served()).toContainEqual(['{kind="ServiceExport"}', 0]);
  isGoing = false;
  api.put(anExport);
  await until(() => run.lists('ServiceExport').length > sent && isWatched('serviceexports'));
});

it('a deletion of an export by its owner is sent with any state of the CRD', async () => {
  api.put(anExport);
  run = runRelay(api.url, { clusterset: true });
  await until(() => isSent('ServiceExport', 'shop/web') && isWatched('serviceexports'));
  api.remove(anExport);
  await until(() => run.live('ServiceExport').length === 1);
});

it('a relay without the right to the CRD logs this once, and sends deletions', async () => {
  api.next(crd, refuse(403, 'Forbidden'), 1_000);
  api.put(anExport);
  run = runRelay(api.url, { clusterset: true });
  await until(() => isSent('ServiceExport', 'shop/web') && isWatched('serviceexports'));
  api.remove(anExport);
  await until(() => run.live('ServiceExport').length === 1);
  expect(
    run.logged.filter((l) => l.message.startsWith('not authorised: get customresourcedefinitions')),
  ).toHaveLength(1);
});
