/**
 * Operators send traffic away from a zone for some seconds: each Node is a zone of its own. It is drawn
 * separately, so that other worlds keep their seeds.
 */
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchZones, type ZoneAway } from '#shared/clusters/zones-away.ts';
import type { Table } from '#shared/store/table.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { isLiedTo, type Profile } from './profile.ts';

const share = 0.25;

/**
 * `calm`: none, unless a mutant asks for it. Beside the built-in controllers every ready address is held to be
 * in some slice, and where faults are those of one service every change to be written within seconds.
 */
export function drawZones(seed: number, profile: Profile, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0x20e5);
  const isHeldToMore = profile.isBeside || profile.culprit !== 'none' || isLiedTo(profile);
  if (calm || isHeldToMore || !random.chance(share)) return {};
  return { zoneSwitches: random.between(1, 4) };
}

/** Adds the zone to those that are away. Another switch at the same time wins. */
export async function sendAway(table: Table, cluster: string, sent: ZoneAway): Promise<void> {
  const record = await readCluster(table, cluster);
  const others = (record?.zones.byOperators ?? []).filter(({ zone }) => zone !== sent.zone);
  await switchZones(table, record as ClusterRecord, [...others, sent], sent.sinceMs);
}
