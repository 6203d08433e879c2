/**
 * Traffic is sent away from zones: by operators for some seconds, or by a zonal shift of EKS beside its own
 * controllers. Each Node is a zone of its own. All of it is drawn separately, so that other worlds keep their
 * seeds.
 */
import type { Store } from '#infra/local/apiserver/store.ts';
import type { ShiftsAnswer } from '#shared/clusters/api/arc-zonal-shift.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { settlesMs, switchZones, type ZoneAway } from '#shared/clusters/zones-away.ts';
import type { Table } from '#shared/store/table.ts';
import type { Away } from '#test/worlds/simulation/promises/truth.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { isLiedTo, type Profile } from './profile.ts';

const [share, shiftShare] = [0.25, 0.3];

/**
 * `calm`: none, unless a mutant asks for it. Beside the built-in controllers every ready address is held to be
 * in some slice, and where faults are those of one service every change to be written within seconds.
 */
export function drawZones(seed: number, profile: Profile, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0x20e5);
  if (calm || profile.culprit !== 'none' || isLiedTo(profile)) return {};
  if (profile.isBeside) return drawShift(seed);
  return random.chance(share) ? { zoneSwitches: random.between(1, 4) } : {};
}

function drawShift(seed: number): Partial<Profile> {
  const random = new Random(seed + 0x20e7);
  return random.chance(shiftShare) ? { zonalShift: random.pick(['keepsLast', 'takesAll'] as const) } : {};
}

/** Adds the zone to those that are away. Another switch at the same time wins. */
export async function sendAway(table: Table, cluster: string, sent: ZoneAway): Promise<void> {
  const record = await readCluster(table, cluster);
  const others = (record?.zones.byOperators ?? []).filter(({ zone }) => zone !== sent.zone);
  await switchZones(table, record as ClusterRecord, [...others, sent], sent.sinceMs);
}

export const zoneIdOfNode = (node: string): string => `id-${node}`;

/** A zone of these shifts with an endpoint in the differences: it is not to be compared until some time later. */
export const comparedZone = (
  differences: string,
  byShifts: readonly ZoneAway[],
  nowMs: number,
): string | undefined =>
  byShifts.find(({ zone, untilMs }) => untilMs + settlesMs > nowMs && differences.includes(` node=${zone} `))
    ?.zone;

/** EKS polls as sweep does: it is up to this late with the zone, either way. */
const mostLateMs = 90_000;

/**
 * One shift, away from the zone of a Node that was there at the start. It ends before the last fault, or not
 * before the world does.
 */
export class ZonalShift {
  readonly #node: string;
  readonly #sinceMs: number;
  readonly #untilMs: number;
  readonly #eks: { readonly sinceMs: number; readonly untilMs: number };
  readonly #takesAll: boolean;

  constructor(seed: number, startMs: number, { faultsUntilMs, zonalShift }: Profile) {
    const random = new Random(seed + 0x20e8);
    const endMs = startMs + faultsUntilMs;
    this.#node = random.pick(['node-1', 'node-2']);
    this.#takesAll = zonalShift === 'takesAll';
    this.#sinceMs = startMs + random.between(5_000, faultsUntilMs / 2);
    // What hub and EKS differ in would keep a hand-over waiting.
    const ends = random.chance(0.5) || this.#takesAll;
    this.#untilMs = ends ? random.between(this.#sinceMs + 2_000, endMs - 1_000) : endMs + 6 * 3_600_000;
    // At rest EKS is done.
    const late = (ms: number): number => Math.min(endMs, ms + random.between(0, mostLateMs));
    this.#eks = { sinceMs: late(this.#sinceMs), untilMs: ends ? late(this.#untilMs) : this.#untilMs };
  }

  /** What sweep reads. */
  answer(nowMs: number): ShiftsAnswer {
    const [sinceMs, untilMs] = [this.#sinceMs, this.#untilMs];
    const shift = { zoneId: zoneIdOfNode(this.#node), sinceMs, untilMs, by: 'ARC shift' };
    return { state: 'read', shifts: this.#isOn(nowMs) ? [shift] : [] };
  }

  /** Sweep has yet to read it, or its end. Without a Node of the zone it records none. */
  isUnread({ zones }: ClusterRecord, store: Store, nowMs: number): boolean {
    const isWanted = this.#isOn(nowMs) && store.find('Node', '', this.#node) !== undefined;
    return isWanted !== zones.byShifts.some(({ untilMs }) => untilMs > nowMs);
  }

  /** For the slices that the hub writes. */
  hub(nowMs: number): Away {
    return { zones: this.#zones(this.#isOn(nowMs)), takesAll: false };
  }

  /** For what EKS's own controllers write. */
  eks(nowMs: number): Away {
    const { sinceMs, untilMs } = this.#eks;
    return { zones: this.#zones(nowMs >= sinceMs && nowMs < untilMs), takesAll: this.#takesAll };
  }

  /** EKS takes the zone out, and adds it again. */
  onEks(scheduler: Scheduler, changed: () => void): void {
    for (const at of [this.#eks.sinceMs, this.#eks.untilMs])
      if (at < scheduler.now + mostShiftMs) scheduler.at(at, changed);
  }

  #isOn(nowMs: number): boolean {
    return nowMs >= this.#sinceMs && nowMs < this.#untilMs;
  }

  #zones(isAway: boolean): ReadonlySet<string> {
    return new Set(isAway ? [this.#node] : []);
  }
}

/** An end after this is after the world's. */
const mostShiftMs = 3_600_000;
