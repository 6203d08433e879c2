/** The state of the clusters of a set after one of them stops importing or exporting, or is rebuilt. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { exportsCommand } from '#infra/clusterset/act/exports-switch.ts';
import { importsCommand } from '#infra/clusterset/act/imports-switch.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import { importsManagedBy, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import {
  exporter,
  foreignImport,
  importer,
  namespace,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

beforeEach(() => {
  for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

const slicesIn = (world: SetWorld, id: string) =>
  (world.of(id).store.list('EndpointSlice') as unknown as EndpointSlice[]).filter(
    ({ metadata }) => metadata.labels?.[labelSliceManagedBy] === importsManagedBy,
  );
const addresses = (world: SetWorld, id: string) =>
  slicesIn(world, id)
    .flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses))
    .sort();
const conflictOf = (world: SetWorld, id: string): unknown => {
  const found = world.of(id).store.find('ServiceExport', 'shop', 'web') as ServiceExport | undefined;
  return found?.status?.conditions?.find(({ type }) => type === 'Conflict');
};
const importsIn = (world: SetWorld, id: string) => world.of(id).store.list('ServiceImport').length;
const membership = async (world: SetWorld, id: string) =>
  membershipOf((await readCluster(world.table, id)) as ClusterRecord);
const hubOf = (world: SetWorld) =>
  ({
    name: 'the hub',
    table: world.table,
    now: () => world.nowMs,
    connectionsFile: 'local',
  }) as unknown as Hub;
/** The hub's own sweep wakes the services. */
const wake = async () => 'services are woken by sweep';

function importsOff(world: SetWorld, id: string, waitFor = 300_000): Promise<void> {
  const wait = async (ms: number) => void (await world.pass(ms / 1000));
  return importsCommand(hubOf(world), { id, imports: 'off', withdraw: true, waitFor }, wake, wait as never);
}

it('imports that are withdrawn leave nothing of ours in the cluster, and another implementation’s import as it is', async () => {
  const world = await SetWorld.start({
    a: importer(),
    b: exporter('10.2.0'),
    d: importer({ given: [namespace(), foreignImport()] }),
  });
  await world.pass(10);
  expect([addresses(world, 'a'), importsIn(world, 'a')]).toEqual([['10.2.0.1', '10.2.0.2'], 1]);
  await importsOff(world, 'a');
  expect([addresses(world, 'a'), importsIn(world, 'a')]).toEqual([[], 0]);
  expect(world.of('a').store.list('Service')).toEqual([]);
  expect(await membership(world, 'a')).toEqual({ ...(await membership(world, 'd')), imports: 'off' });
  expect((await listAudit(world.table, 'a')).map((entry) => entry.what)).toEqual([
    '1 imports are withdrawn: shop/web',
    'imports active → off',
  ]);
  await importsOff(world, 'd');
  expect(importsIn(world, 'd')).toBe(1);
  await world.pass(120);
  expect(importsIn(world, 'a')).toBe(0);
});

it('imports that were left by a switch to off can be withdrawn afterwards', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(10);
  await importsCommand(hubOf(world), { id: 'a', imports: 'off' }, wake);
  await world.pass(90);
  expect(importsIn(world, 'a')).toBe(1);
  await importsOff(world, 'a');
  expect(importsIn(world, 'a')).toBe(0);
});

it('a withdrawal that waits for an unreachable cluster reports the remaining imports, survives a deploy, and continues when the command is repeated', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(10);
  world.of('a').apiAnswers = false;
  await expect(importsOff(world, 'a', 60_000)).rejects.toThrow(
    'a stays withdrawing after 60 s, 1 imports are left: shop/web. Repeat the command',
  );
  const { withdraws: _, ...inFile } = await membership(world, 'a');
  await registerCluster(world.table, { id: 'a', mode: 'shadow', clusterset: inFile }, world.nowMs);
  await saveMembership(world.table, 'a', { ...inFile, withdraws: true });
  await registerCluster(
    world.table,
    { id: 'a', mode: 'shadow', clusterset: { ...inFile, evictAfterSeconds: 600 } },
    world.nowMs,
  );
  expect(await membership(world, 'a')).toMatchObject({ withdraws: true, evictAfterSeconds: 600 });
  world.of('a').apiAnswers = true;
  await importsOff(world, 'a', 900_000);
  expect([addresses(world, 'a'), importsIn(world, 'a')]).toEqual([[], 0]);
});

it('imports of a paused cluster are not withdrawn, and the command has the reason', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(10);
  await switchMode(world.table, 'a', 'paused', world.nowMs);
  await expect(importsOff(world, 'a')).rejects.toThrow(
    'a is paused, so it has no runs: switch it to shadow or active first',
  );
  await expect(
    importsCommand(hubOf(world), { id: 'a', imports: 'active', withdraw: true }, wake),
  ).rejects.toThrow('--withdraw goes with off');
});

it('exports that are switched off leave every importer within a sweep, and the last export of a name requires --override', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
  await world.pass(10);
  await exportsCommand(hubOf(world), { id: 'b', exports: 'none' }, wake);
  await world.pass(90);
  expect(addresses(world, 'a')).toEqual(['10.3.0.1', '10.3.0.2']);
  await expect(exportsCommand(hubOf(world), { id: 'c', exports: 'none' }, wake)).rejects.toThrow(
    'the only cluster that exports shop/web',
  );
  await exportsCommand(hubOf(world), { id: 'c', exports: 'none', override: true }, wake);
  await world.pass(90);
  expect([addresses(world, 'a'), importsIn(world, 'a')]).toEqual([[], 0]);
});

it('a source that is rebuilt keeps its endpoints in every importer until its first lists are complete', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
  await world.pass(10);
  const both = ['10.2.0.1', '10.2.0.2', '10.3.0.1', '10.3.0.2'];
  const during: (readonly string[])[] = [];
  const wait = async (ms: number): Promise<void> => {
    world.of('c').store.remove('Pod', 'shop', 'web-1');
    await world.pass(ms / 1000);
    during.push(addresses(world, 'a'));
  };
  await rebuild({ table: world.table, now: () => world.nowMs, wait, say: () => {}, who: 'x' }, ['b']);
  expect(during).toEqual([both.filter((address) => address !== '10.3.0.1')]);
  await world.pass(300);
  expect(addresses(world, 'a')).toEqual(['10.2.0.1', '10.2.0.2', '10.3.0.2']);
  expect((await membership(world, 'b')).exports).toEqual({ namespaces: ['shop'] });
});

it('an export keeps its conflict with the export of a cluster that is being rebuilt', async () => {
  const other = service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] });
  const younger = exporter('10.3.0', {
    given: [other, serviceExport({ creationTimestamp: '2026-02-02T00:00:00Z' })],
  });
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: younger });
  await world.pass(10);
  expect(conflictOf(world, 'b')).toMatchObject({ status: 'True', reason: 'PortConflict' });
  const during: unknown[] = [];
  const wait = async (ms: number): Promise<void> => {
    world.of('b').store.apply(serviceExport({ generation: 2 }));
    await world.pass(ms / 1000);
    const explained = await explain(
      world.table,
      { cluster: 'a', namespace: 'shop', name: 'web' },
      world.nowMs,
    );
    during.push(
      conflictOf(world, 'b'),
      explained.clusterset?.sources.find(({ cluster }) => cluster === 'c'),
    );
  };
  await rebuild({ table: world.table, now: () => world.nowMs, wait, say: () => {}, who: 'x' }, ['c']);
  expect(during).toMatchObject([
    { status: 'True', reason: 'PortConflict' },
    {
      state: 'silent',
      why: 'an operator rebuilds its records: its slices stay in every importer as they are',
    },
  ]);
});
