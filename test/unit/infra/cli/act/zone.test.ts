/** `cluster zone` on a table. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type ZoneOptions, zoneCommand } from '#infra/cli/act/zone-switch.ts';
import { describeClusters } from '#infra/cli/ask/lists/cluster-list.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { recordShifts, zonesAway } from '#shared/clusters/zones-away.ts';
import { labelZone, labelZoneId } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { InputKind, ObjectOfKind } from '#shared/kube/types.ts';
import { indexNamespace, raiseSelectorsVersion } from '#shared/store/inputs/namespaces.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { pod, service } from '#test/support/objects.ts';

const startMs = Date.parse('2026-03-01T12:00:00Z');
const hourMs = 3_600_000;

let table: ReturnType<typeof memoryTable>;
let nowMs: number;
let printed: string[];

beforeEach(() => {
  table = memoryTable();
  nowMs = startMs;
  printed = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

async function put<K extends InputKind>(cluster: string, kind: K, object: ObjectOfKind[K]): Promise<void> {
  const { namespace = '', name } = object.metadata;
  const record = {
    ...{ namespace, name, version: versionOf(1, '5'), projection: encodeProjection(kind, object) },
    ...{ unnotifiedLabels: undefined, deletedAtMs: 0 },
  };
  await putObject({ table, cluster }, kind, record as never, undefined);
}

/** Zones by node, with the ids of one AWS account. */
async function register(cluster: string, zones: Readonly<Record<string, string>>, mode = 'active' as const) {
  await registerCluster(table, { id: cluster, mode }, nowMs);
  for (const [zone, id] of Object.entries(zones))
    await put(cluster, 'Node', {
      metadata: {
        name: `node-${zone}`,
        uid: zone,
        labels: { [labelZone]: zone, ...(id && { [labelZoneId]: id }) },
      },
    });
}

async function serve(cluster: string, name: string, podsIn: Readonly<Record<string, number>>): Promise<void> {
  await indexNamespace({ table, cluster }, 'shop');
  await raiseSelectorsVersion({ table, cluster }, 'shop');
  await put(cluster, 'Service', service({ selector: { app: name } }, { namespace: 'shop', name, uid: name }));
  for (const [zone, count] of Object.entries(podsIn))
    for (let i = 0; i < count; i++)
      await put(
        cluster,
        'Pod',
        pod(`${name}-${zone}-${i}`, {
          namespace: 'shop',
          uid: `${name}-${zone}-${i}`,
          labels: { app: name },
          ips: [`10.1.${zone.charCodeAt(0)}.${i + 1}`],
          spec: { nodeName: `node-${zone}`, containers: [] },
        }),
      );
}

const zone = (options: Partial<ZoneOptions>): Promise<void> =>
  zoneCommand(
    { table, name: 'the hub', now: () => nowMs } as unknown as Hub,
    {
      ...{ id: 'c1', zone: undefined, to: undefined, forMs: 6 * hourMs, reason: '' },
      printing: { color: 'never', isLocalTime: false },
      ...options,
    },
    async () => '3 services woken',
  );

const awayIn = async (cluster: string): Promise<readonly string[]> => {
  const record = await readCluster(table, cluster);
  return record ? [...zonesAway(record, nowMs)] : [];
};

it('away says what leaves, switches, and audits; back takes it back', async () => {
  await register('c1', { a: 'euc1-az2', b: 'euc1-az3', c: 'euc1-az1' });
  await serve('c1', 'web', { a: 2, b: 1, c: 1 });
  await serve('c1', 'cart', { a: 3, b: 1 });
  await serve('c1', 'db', { a: 1 });
  await zone({ zone: 'euc1-az2', to: 'away', reason: 'INC-1' });
  expect(printed).toEqual([
    'c1  5 of 9 ready endpoints leave, of 2 Services; less than half is left of 1: shop/cart 1 of 4; nothing leaves 1, because no ready pod elsewhere serves all that it serves: shop/db',
    'c1  zone a (euc1-az2) away until 2026-03-01T18:00:00Z, 3 services woken',
  ]);
  expect(await awayIn('c1')).toEqual(['a']);
  expect((await listAudit(table, 'c1')).map(({ what }) => what)).toEqual([
    'zone a (euc1-az2) away until 2026-03-01T18:00:00Z: INC-1',
  ]);
  expect((await readCluster(table, 'c1'))?.modeSwitch.wakesPending).toBe(true);

  nowMs += 5 * hourMs;
  await zone({ zone: 'a', to: 'away', forMs: 2 * hourMs });
  nowMs += 90 * 60_000;
  expect(await awayIn('c1')).toEqual(['a']);
  await zone({ zone: 'a', to: 'back' });
  expect(printed.at(-1)).toBe('c1  zone a (euc1-az2) back, 3 services woken');
  expect(await awayIn('c1')).toEqual([]);
});

it('the list of clusters has the zone with its end', async () => {
  await register('c1', { a: '', b: '' });
  await zone({ zone: 'a', to: 'away' });
  const [listed] = await describeClusters({ table, now: () => nowMs });
  expect(listed?.zonesAway).toEqual([{ zone: 'a', until: '2026-03-01T18:00:00Z', by: expect.any(String) }]);
});

it('without a zone it lists the zones', async () => {
  await register('c1', { a: 'euc1-az2', b: '' });
  await serve('c1', 'web', { a: 2, b: 1 });
  await zone({ zone: 'a', to: 'away', reason: 'INC-1' });
  printed = [];
  await zone({});
  expect(printed[0]).toBe('c1');
  expect(printed[2]).toMatch(/a +euc1-az2 +1 +2 +away until 2026-03-01T18:00:00Z by .*: INC-1/);
  expect(printed[3]).toMatch(/b +- +1 +1 +-/);
  printed = [];
  await zone({ printing: { format: 'json', color: 'never', isLocalTime: false } });
  expect(JSON.parse(printed.join('\n'))).toMatchObject([
    {
      cluster: 'c1',
      zones: [
        { zone: 'a', id: 'euc1-az2', nodes: 1, readyPods: 2 },
        { zone: 'b', away: null },
      ],
    },
  ]);
});

it('back of a zone that a shift of EKS has sent away names the shift', async () => {
  await register('c1', { a: 'euc1-az2', b: 'euc1-az3' });
  const shift = { zone: 'a', sinceMs: nowMs, untilMs: nowMs + hourMs, by: 'ARC shift zs-1' };
  await recordShifts(table, 'c1', { byShifts: [shift], reading: { state: 'read', sinceMs: nowMs } });
  await expect(zone({ zone: 'a', to: 'back' })).rejects.toThrow(
    'c1: no operator has sent traffic away from a: it is away by ARC shift zs-1, so cancel that in ARC',
  );
});

it('--all skips clusters without the zone, and refuses a name of several places', async () => {
  await register('c1', { a: 'euc1-az2', b: 'euc1-az3' });
  await register('c2', { a: 'euc1-az1', b: 'euc1-az2' });
  await register('c3', { x: '', y: '' });
  await expect(zone({ id: undefined, zone: 'a', to: 'away' })).rejects.toThrow(
    'a is a different place in these clusters: give the id, one of euc1-az1, euc1-az2',
  );
  await zone({ id: undefined, zone: 'euc1-az2', to: 'away' });
  expect(await Promise.all(['c1', 'c2', 'c3'].map(awayIn))).toEqual([['a'], ['b'], []]);
  expect(printed).toContain('c3  skipped: no zone euc1-az2: its nodes are in x, y');
});

it.each<[string, Partial<ZoneOptions>, RegExp]>([
  ['an unknown zone', { zone: 'z', to: 'away' }, /no zone z: its nodes are in a, b/],
  ['a zone alone', { zone: 'a' }, /a zone and away or back are needed/],
  ['too long a time', { zone: 'a', to: 'away', forMs: 73 * hourMs }, /5m to 72h/],
  ['too short a time', { zone: 'a', to: 'away', forMs: 60_000 }, /5m to 72h/],
  ['a long reason', { zone: 'a', to: 'away', reason: 'x'.repeat(301) }, /at most 300 characters/],
  ['an unknown cluster', { id: 'x', zone: 'a', to: 'away' }, /x/],
  ['back of a zone that is not away', { zone: 'a', to: 'back' }, /no operator has sent traffic away from a/],
])('%s is refused, and nothing is written', async (_, options, message) => {
  await register('c1', { a: '', b: '' });
  const before = await readCluster(table, 'c1');
  await expect(zone(options)).rejects.toThrow(message);
  expect(await readCluster(table, 'c1')).toEqual(before);
});

it('the last zone of a cluster, and a paused cluster, are refused', async () => {
  await register('c1', { a: '', b: '' });
  await zone({ zone: 'a', to: 'away' });
  await expect(zone({ zone: 'b', to: 'away' })).rejects.toThrow(/b is the last zone/);
  await switchMode(table, 'c1', 'paused', nowMs);
  await expect(zone({ zone: 'a', to: 'back' })).rejects.toThrow(/the cluster is paused/);
});
