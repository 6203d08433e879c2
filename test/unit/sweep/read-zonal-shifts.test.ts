/** Sweep follows the zonal shifts of a cluster of EKS. */
import { expect, it } from 'vitest';
import { sweep } from '#functions/sweep/sweep.ts';
import type { Shift, ShiftsAnswer } from '#shared/clusters/api/arc-zonal-shift.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { zonesAway } from '#shared/clusters/zones-away.ts';
import { labelZone, labelZoneId } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const minute = 60_000;
const hour = 60 * minute;
const off: ShiftsAnswer = { state: 'off' };
const noAnswer: ShiftsAnswer = { state: 'unreachable', error: 'time-out' };

const away = (untilMs: number | undefined, zoneId = 'euc1-az2'): ShiftsAnswer => {
  const shift: Shift = { zoneId, sinceMs: start, untilMs, by: untilMs ? 'ARC shift zs-1' : 'ARC autoshift' };
  return { state: 'read', shifts: [shift] };
};
const none: ShiftsAnswer = { state: 'read', shifts: [] };

async function hub(settings: { readonly zonalShift?: 'follow' | 'ignore' } = {}) {
  const clock = { now: start };
  const table = memoryTable();
  const api = { url: 'https://eks.example', auth: { type: 'eks', clusterName: 'shop' } } as const;
  await registerCluster(table, { id: 'eks', mode: 'shadow', api, settings }, 0);
  const labels = { [labelZone]: 'eu-central-1a', [labelZoneId]: 'euc1-az2' };
  const projection = encodeProjection('Node', { metadata: { name: 'n', uid: 'n', labels } });
  const node = { namespace: '', name: 'n', version: versionOf(1, '5'), projection };
  const record = { ...node, unnotifiedLabels: undefined, deletedAtMs: 0 };
  await putObject({ table, cluster: 'eks' }, 'Node', record as never, undefined);
  const world = { answer: off as ShiftsAnswer, asked: 0, put: new Map<string, number>() };
  const deps = sweepDeps({
    table,
    queues: () => memoryClusterQueues(() => clock.now),
    cluster: async () => Promise.reject(new Error('not asked here')),
    zonalShift: async () => {
      world.asked++;
      return world.answer;
    },
    metrics: { put: (name, value) => void world.put.set(name, value) },
    now: () => clock.now,
  });
  /** A run of sweep each minute. */
  const pass = async (minutes: number) => {
    for (let i = 0; i < minutes; i++, clock.now += minute) await sweep(deps).catch(() => {});
    const cluster = await readCluster(table, 'eks');
    if (!cluster) throw new Error('the cluster is gone');
    return { cluster, zones: [...zonesAway(cluster, clock.now)] };
  };
  return { clock, world, pass };
}

it('a shift takes its zone away in the same run, wakes every service, and ends with it', async () => {
  const { world, pass } = await hub();
  const before = await pass(1);
  world.answer = away(start + 2 * hour);
  const shifted = await pass(10);
  expect(shifted.zones).toEqual(['eu-central-1a']);
  expect(shifted.cluster.zones.wokenFor).toBe('eu-central-1a');
  expect(shifted.cluster.modeSwitch.count).toBe(before.cluster.modeSwitch.count + 1);
  expect(shifted.cluster.modeSwitch.wakesPending).toBe(false);
  expect(world.put.get('ZonesAway')).toBe(1);
  world.answer = none;
  const back = await pass(2);
  expect(back.zones).toEqual([]);
  expect(back.cluster.modeSwitch.count).toBe(shifted.cluster.modeSwitch.count + 1);
});

it('a shift that cannot be read any more ends at its time, and the alarm rings', async () => {
  const { world, pass } = await hub();
  world.answer = away(start + 30 * minute);
  await pass(11);
  world.answer = noAnswer;
  const unread = await pass(8);
  expect(unread.zones).toEqual(['eu-central-1a']);
  expect(world.put.get('ZonalShiftUnread')).toBe(0);
  await pass(5);
  expect(world.put.get('ZonalShiftUnread')).toBe(1);
  const over = await pass(10);
  expect(over.zones).toEqual([]);
  expect(over.cluster.zones.wokenFor).toBe('');
});

it('an autoshift counts while it is seen, and for twelve hours after that', async () => {
  const { clock, world, pass } = await hub();
  world.answer = away(undefined);
  await pass(11);
  clock.now += 20 * hour;
  await pass(1);
  expect((await pass(1)).zones).toEqual(['eu-central-1a']);
  world.answer = noAnswer;
  clock.now += 10 * hour;
  expect((await pass(1)).zones).toEqual(['eu-central-1a']);
  clock.now += 3 * hour;
  expect((await pass(1)).zones).toEqual([]);
});

it('a shift that was read counts no more once the settings ignore shifts', async () => {
  const { world, pass } = await hub();
  world.answer = away(start + 10 * hour);
  const { cluster } = await pass(11);
  expect([...zonesAway(cluster, start + hour)]).toEqual(['eu-central-1a']);
  const ignoring = { ...cluster, settings: { ...cluster.settings, zonalShift: 'ignore' as const } };
  expect([...zonesAway(ignoring, start + hour)]).toEqual([]);
});

it('a zone that no node has changes nothing', async () => {
  const { world, pass } = await hub();
  world.answer = away(start + hour, 'euc1-az9');
  expect((await pass(11)).zones).toEqual([]);
});

it('a cluster without zonal shift is asked once in ten minutes, and one that ignores it never', async () => {
  const { world, pass } = await hub();
  await pass(31);
  expect(world.asked).toBeLessThanOrEqual(5);
  const ignoring = await hub({ zonalShift: 'ignore' });
  await ignoring.pass(11);
  expect(ignoring.world.asked).toBe(0);
});
