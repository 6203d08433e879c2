/**
 * When a source that is gone is evicted, and when the hub waits: the real ingest, sweep and sync over several
 * clusters.
 */

import { expect, it } from 'vitest';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import {
  exporter,
  importer,
  namespace,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { type MemberOptions, SetWorld } from '#test/clusterset/support/set-world.ts';

const policy = { evictAfterSeconds: 60 } as const;
const evicting = (ip: string, more: Partial<MemberOptions> = {}) => exporter(ip, { ...policy, ...more });

const slicesIn = (world: SetWorld, id: string): readonly EndpointSlice[] =>
  world
    .of(id)
    .store.list('EndpointSlice')
    .filter(({ metadata }) => metadata.labels?.[labelSliceManagedBy] === importsManagedBy);
const addressesOf = (world: SetWorld, source: string, port?: string): readonly string[] =>
  slicesIn(world, 'a')
    .filter(
      (s) =>
        s.metadata.labels?.[labelSourceCluster] === source &&
        (!port || s.ports?.some(({ name }) => name === port)),
    )
    .flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses ?? []))
    .sort();
const stateOf = async (world: SetWorld, id: string) =>
  sourceOf((await readCluster(world.table, id)) as ClusterRecord)?.state;
const gone = (world: SetWorld, ...ids: readonly string[]): void => {
  for (const id of ids) Object.assign(world.of(id), { isBeating: false, apiAnswers: false });
};

it('a source is not evicted while the APIs of fresh clusters do not answer the hub either', async () => {
  const world = await SetWorld.start({
    a: importer(policy),
    b: evicting('10.2.0'),
    c: evicting('10.3.0'),
    d: evicting('10.4.0'),
    e: evicting('10.5.0'),
  });
  await world.pass(120);
  for (const id of ['b', 'd', 'e']) world.of(id).apiAnswers = false;
  gone(world, 'c');
  await world.pass(600);
  expect(await stateOf(world, 'c')).toBe('silent');
  expect(addressesOf(world, 'c')).toHaveLength(2);
  expect(world.metrics.get('EvictionsHeld')).toBeGreaterThan(0);
  for (const id of ['b', 'd', 'e']) world.of(id).apiAnswers = true;
  await world.pass(120);
  expect(await stateOf(world, 'c')).toBe('evicted');
  expect(addressesOf(world, 'c')).toEqual([]);
});

it('a source is not evicted that alone has an endpoint for a port', async () => {
  const http = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' };
  const grpc = { name: 'grpc', port: 90, targetPort: 9090, protocol: 'TCP' };
  const older = serviceExport({ creationTimestamp: '2025-01-01T00:00:00Z' });
  const world = await SetWorld.start({
    a: importer(policy),
    b: evicting('10.2.0'),
    c: {
      ...evicting('10.3.0'),
      given: [namespace(), service({ ports: [http, grpc] }), pod('web-1', '10.3.0.1'), older],
    },
  });
  await world.pass(120);
  expect(addressesOf(world, 'c', 'grpc')).toEqual(['10.3.0.1']);
  gone(world, 'c');
  await world.pass(600);
  expect(addressesOf(world, 'c', 'grpc')).toEqual(['10.3.0.1']);
  expect(await stateOf(world, 'c')).toBe('evicted');
  world.of('b').store.apply(service({ ports: [http, grpc] }));
  await world.pass(400);
  expect(addressesOf(world, 'c')).toEqual([]);
  expect(addressesOf(world, 'b', 'grpc')).toHaveLength(2);
});

it('a source that is silent is found although the report of another cluster fails, and is evicted unless a cluster is unread', async () => {
  const world = await SetWorld.start({
    a: importer(policy),
    b: evicting('10.2.0'),
    c: evicting('10.3.0'),
    z: { given: [namespace()] },
  });
  await world.pass(120);
  const { queryDirty, get } = world.table;
  const throttled = (fails: boolean) => async () => {
    if (fails) throw new Error('ThrottlingException');
  };
  const failsFor = { report: false, record: false };
  Object.assign(world.table, {
    queryDirty: async (cluster: string, nowMs: number, most: number) => {
      await throttled(failsFor.report && cluster === 'z')();
      return queryDirty.call(world.table, cluster, nowMs, most);
    },
    get: async (key: { readonly pk: string; readonly sk: string }) => {
      await throttled(failsFor.record && key.pk === 'CLUSTER#z')();
      return get.call(world.table, key);
    },
  });
  const passSweeps = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i++) await expect(world.pass(61)).rejects.toThrow('sweep could not finish');
  };
  gone(world, 'c');
  failsFor.record = true;
  await passSweeps(10);
  expect(await stateOf(world, 'c')).toBe('silent');
  expect(world.metrics.get('SourcesSilent')).toBeGreaterThan(0);
  Object.assign(failsFor, { record: false, report: true });
  await passSweeps(3);
  expect(await stateOf(world, 'c')).toBe('evicted');
});

it('clusters without a heartbeat, and paused clusters, delay no eviction', async () => {
  const world = await SetWorld.start({ a: importer(policy), b: evicting('10.2.0'), c: evicting('10.3.0') });
  await world.pass(120);
  for (const id of ['d', 'e', 'f']) {
    world.addMember(id);
    world.of(id).isBeating = false;
    await registerCluster(
      world.table,
      { id, mode: 'shadow', api: { url: `https://${id}`, auth: { type: 'secret', secretArn: 'arn' } } },
      world.nowMs,
    );
    await saveMembership(world.table, id, { ...noMembership, ...policy, sameness: 'all', imports: 'shadow' });
  }
  gone(world, 'c');
  await world.pass(600);
  expect(await stateOf(world, 'c')).toBe('evicted');
});

it('a source is evicted where one region of two is lost, and not where half of the clusters are', async () => {
  const inRegions = (region: (cluster: string) => object) =>
    SetWorld.start({
      a: importer({ ...policy, ...region('a') }),
      b: evicting('10.2.0', region('b')),
      c: evicting('10.3.0', region('c')),
      d: evicting('10.4.0', region('d')),
    });
  const region = (cluster: string) => ({ region: cluster < 'c' ? 'eu-central-1' : 'eu-west-1' });
  const [without, withRegions] = [await inRegions(() => ({})), await inRegions(region)];
  for (const world of [without, withRegions]) {
    await world.pass(120);
    gone(world, 'c', 'd');
    await world.pass(600);
  }
  expect([await stateOf(without, 'c'), await stateOf(without, 'd')]).toEqual(['silent', 'silent']);
  expect([await stateOf(withRegions, 'c'), await stateOf(withRegions, 'd')]).toEqual(['evicted', 'evicted']);
});

it('an evicted source whose API answers again is imported by the lists of its API', async () => {
  const world = await SetWorld.start({ a: importer(policy), b: evicting('10.2.0'), c: evicting('10.3.0') });
  await world.pass(120);
  gone(world, 'c');
  await world.pass(600);
  expect(addressesOf(world, 'c')).toEqual([]);
  world.of('c').apiAnswers = true;
  await world.pass(180);
  expect(await stateOf(world, 'c')).toBe('silent');
  expect(addressesOf(world, 'c')).toEqual(['10.3.0.1', '10.3.0.2']);
});

it('an evicted source stays so while another cluster, or an error, answers for it', async () => {
  const world = await SetWorld.start({ a: importer(policy), b: evicting('10.2.0'), c: evicting('10.3.0') });
  await world.pass(120);
  gone(world, 'c');
  await world.pass(600);
  world.of('c').apiAnswers = true;
  world.of('c').refuses = () => new ClusterApiError('Service Unavailable', { status: 503 });
  await world.pass(600);
  expect(await stateOf(world, 'c')).toBe('evicted');
});
