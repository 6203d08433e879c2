/**
 * Zonal shifts of clusters of EKS: looked at once a minute, as EKS itself does. EKS takes the pods of the zone
 * out of the endpoints that it writes, and the hub out of those that it writes (docs/use/zones.md).
 */
import type { Shift } from '#shared/clusters/api/arc-zonal-shift.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { recordShifts, settlesMs, type ZoneAway, zonesAway } from '#shared/clusters/zones-away.ts';
import { bucketOf } from '#shared/kube/hash.ts';
import { zoneIdOf, zoneOf } from '#shared/kube/nodes.ts';
import { decodeObjectOf, objectPages } from '#shared/store/inputs/objects.ts';
import type { SweepDeps } from './sweep-deps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** After this time without an answer the alarm rings, ms. */
const unreadAfterMs = 10 * minuteMs;

/**
 * An autoshift has no end that AWS tells: it counts for this time from the last look that saw it. It is
 * recorded anew before the last hours.
 */
const [autoshiftMs, renewedAtMs] = [12 * hourMs, 11 * hourMs];

/** Clusters without zonal shift, or that refuse the hub, are asked in one minute of ten. */
export function dueForShifts(
  { now, zonalShift }: Pick<SweepDeps, 'now' | 'zonalShift'>,
  clusters: readonly ClusterRecord[],
): readonly ClusterRecord[] {
  if (!zonalShift) return [];
  const minute = Math.floor(now() / minuteMs) % 10;
  return clusters.filter((cluster) => {
    const { state = 'read' } = cluster.zones.reading ?? {};
    const isSeldom = state === 'off' || state === 'denied';
    return followsShifts(cluster) && (!isSeldom || bucketOf(cluster.id, 10) === minute);
  });
}

const followsShifts = (cluster: ClusterRecord): boolean =>
  cluster.api?.auth?.type === 'eks' && cluster.settings.zonalShift === 'follow' && hasRuns(cluster);

/**
 * What is known stays if ARC does not answer, until its own end. Resolves to true if the record has changed.
 */
export async function readShifts(deps: SweepDeps, cluster: ClusterRecord): Promise<boolean> {
  const answer = await deps.zonalShift?.(cluster);
  if (!answer) return false;
  const { byShifts, reading } = cluster.zones;
  const before = reading?.state === answer.state ? reading : undefined;
  if ('error' in answer && !before)
    deps.log.warn('zonal shift cannot be read', { ...answer, cluster: cluster.id });
  const shifts = answer.state === 'read' ? answer.shifts : [];
  const next =
    'error' in answer ? byShifts : withEnded(await awayBy(deps, cluster, shifts), cluster, deps.now());
  if (before && JSON.stringify(next) === JSON.stringify(byShifts)) return false;
  return recordShifts(deps.table, cluster.id, {
    byShifts: next,
    reading: before ?? { state: answer.state, sinceMs: deps.now() },
  });
}

/** Shifts that have ended stay in the record while shadow mode compares without their zones. */
function withEnded(
  shifts: readonly ZoneAway[],
  { zones }: ClusterRecord,
  nowMs: number,
): readonly ZoneAway[] {
  const ended = zones.byShifts
    .filter(({ zone }) => !shifts.some((shift) => shift.zone === zone))
    .map((shift) => ({ ...shift, untilMs: Math.min(shift.untilMs, nowMs) }));
  return [...shifts, ...ended.filter(({ untilMs }) => untilMs > nowMs - settlesMs)];
}

/** ARC names a zone by its id. A zone that no Node has is left out: nothing is in it. */
async function awayBy(
  deps: SweepDeps,
  cluster: ClusterRecord,
  shifts: readonly Shift[],
): Promise<readonly ZoneAway[]> {
  if (shifts.length === 0) return [];
  const names = await zoneNames(deps, cluster.id);
  return shifts.flatMap(({ zoneId, sinceMs = deps.now(), untilMs, by }): ZoneAway[] => {
    const zone = names.get(zoneId);
    if (zone === undefined) {
      deps.log.warn('no node is in the zone of a zonal shift', { cluster: cluster.id, zoneId });
      return [];
    }
    const before = cluster.zones.byShifts.find((entry) => entry.id === zoneId && entry.by === by);
    const kept = before && before.untilMs - deps.now() > renewedAtMs ? before : undefined;
    const start = untilMs === undefined ? (before?.sinceMs ?? sinceMs) : sinceMs;
    const end = untilMs ?? kept?.untilMs ?? deps.now() + autoshiftMs;
    return [{ zone, id: zoneId, sinceMs: start, untilMs: end, by }];
  });
}

async function zoneNames({ table }: SweepDeps, cluster: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for await (const page of objectPages({ table, cluster }, 'Node', '', nodesAtOnce))
    for (const node of page.flatMap((record) => decodeObjectOf('Node', record) ?? []))
      if (zoneIdOf(node) !== '' && zoneOf(node) !== '') names.set(zoneIdOf(node), zoneOf(node));
  return names;
}

const nodesAtOnce = 1_000;

/** The zones of a cluster that are away, and 1 if its shifts have not been read for some time. */
export function publishZones(
  { metrics, now }: Pick<SweepDeps, 'metrics' | 'now'>,
  cluster: ClusterRecord,
): void {
  if (!hasRuns(cluster)) return;
  metrics.put('ZonesAway', zonesAway(cluster, now()).size, { cluster: cluster.id });
  const { reading } = cluster.zones;
  if (!followsShifts(cluster) || !reading) return;
  const isUnread = reading.state === 'unreachable' && now() - reading.sinceMs >= unreadAfterMs;
  metrics.put('ZonalShiftUnread', isUnread ? 1 : 0, { cluster: cluster.id });
}
