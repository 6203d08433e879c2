/**
 * Zones of a cluster that traffic is to leave (docs/use/zones.md). An operator's switch ends by itself: each run reads the time
 * of its end.
 */
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import { zoneOf } from '#shared/kube/nodes.ts';
import type { Node } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { type Item, jsonIn, type Table, textIn } from '#shared/store/table.ts';
import {
  type ClusterSwitch,
  hasRuns,
  isRegistered,
  isSwitch,
  isWithRuns,
  type Mode,
  modeAttributes,
} from './writer/mode.ts';

export interface ZoneAway {
  /** The name of the zone, as the label of its Nodes has it. */
  readonly zone: string;
  /** Its id, if its Nodes have one. */
  readonly id?: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Who sent the traffic away. */
  readonly by: string;
  readonly reason?: string;
}

export interface ZonesState {
  /** Sent away by zonal shifts of EKS, as sweep last read them. */
  readonly byShifts: readonly ZoneAway[];
  /** How sweep last fared with reading them, and since when; undefined before the first time. */
  readonly reading: ShiftsReading | undefined;
  /** Sent away by operators. Those whose time is over are among them. */
  readonly byOperators: readonly ZoneAway[];
  /** The zones that every service was last woken for, as text. */
  readonly wokenFor: string;
}

/** `off`: zonal shift is not enabled for the cluster. */
export interface ShiftsReading {
  readonly state: 'read' | 'off' | 'denied' | 'unreachable';
  readonly sinceMs: number;
}

const attributes = {
  byShifts: 'awayArc',
  reading: 'arcRead',
  byOperators: 'awayOps',
  wokenFor: 'awayWoken',
} as const;

export function decodeZones(item: Item): ZonesState {
  return {
    byShifts: jsonIn<readonly ZoneAway[]>(item, attributes.byShifts) ?? [],
    reading: jsonIn<ShiftsReading>(item, attributes.reading),
    byOperators: jsonIn<readonly ZoneAway[]>(item, attributes.byOperators) ?? [],
    wokenFor: textIn(item, attributes.wokenFor) ?? '',
  };
}

interface Zones {
  readonly zones: ZonesState;
  readonly settings: Pick<ClusterSettings, 'zonalShift'>;
}

/** The zones that are away now, and why. */
export function awayNow({ zones, settings }: Zones, nowMs: number): readonly ZoneAway[] {
  const byShifts = settings.zonalShift === 'follow' ? zones.byShifts : [];
  return [...byShifts, ...zones.byOperators].filter(({ untilMs }) => untilMs > nowMs);
}

/** Their names. */
export const zonesAway = (cluster: Zones, nowMs: number): ReadonlySet<string> =>
  new Set(awayNow(cluster, nowMs).map(({ zone }) => zone));

/** Time after the end of a shift in which EKS may still be adding the endpoints of the zone again, ms. */
export const settlesMs = 180_000;

/** Names of the zones of shifts that are in force, or have ended lately. */
export const recentShifts = ({ zones }: Pick<Zones, 'zones'>, nowMs: number): ReadonlySet<string> =>
  new Set(zones.byShifts.filter(({ untilMs }) => untilMs > nowMs - settlesMs).map(({ zone }) => zone));

/** A clause about a pod on the node, whose zone is one of `away`. */
export function awayReason(away: readonly ZoneAway[], node: Node | undefined): string {
  const entry = away.find(({ zone }) => node && zone === zoneOf(node));
  return entry ? awayText(entry) : 'its zone is away';
}

function awayText({ zone, id, untilMs, by }: ZoneAway): string {
  const until = new Date(untilMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return `its zone ${zone}${id ? ` (${id})` : ''} is away until ${until}, by ${by}`;
}

const textOf = (zones: ReadonlySet<string>): string => [...zones].sort().join();

/**
 * Sets the zones that operators have sent away, and schedules a wake-up of every service like a switch of
 * mode. Resolves to false if the cluster was switched meanwhile, or has no runs.
 */
export async function switchZones(
  table: Table,
  { id, modeSwitch, zones, settings }: ClusterSwitch & Zones,
  byOperators: readonly ZoneAway[],
  nowMs: number,
): Promise<boolean> {
  const wokenFor = textOf(zonesAway({ settings, zones: { ...zones, byOperators } }, nowMs));
  const set = { [attributes.byOperators]: JSON.stringify(byOperators), [attributes.wokenFor]: wokenFor };
  return markWakes(table, { id, modeSwitch }, set);
}

/** The clocks of two workers may differ by this, ms. */
const clocksDifferByMs = 10_000;

/** An end counts when every worker's clock has passed it: a run that still sees the zone away is the last. */
const settledZones = (cluster: Zones, nowMs: number): string =>
  textOf(zonesAway(cluster, nowMs - clocksDifferByMs));

/** The zones that are away are others than the services were woken for: a time is over. */
export const areZonesChanged = (cluster: Zones & { readonly mode: Mode }, nowMs: number): boolean =>
  hasRuns(cluster) && settledZones(cluster, nowMs) !== cluster.zones.wokenFor;

/**
 * Schedules a wake-up of every service for the zones that are away now. Resolves to false if the cluster was
 * switched meanwhile.
 */
export const markWakesForZones = (
  table: Table,
  cluster: ClusterSwitch & Zones,
  nowMs: number,
): Promise<boolean> => markWakes(table, cluster, { [attributes.wokenFor]: settledZones(cluster, nowMs) });

async function markWakes(
  table: Table,
  { id, modeSwitch }: ClusterSwitch,
  set: { readonly [attribute: string]: string },
): Promise<boolean> {
  const change = { set: { ...set, [modeAttributes.wakesPending]: 1 }, add: { [modeAttributes.count]: 1 } };
  return (await table.update(metaKey(id), change, { all: [isSwitch(modeSwitch), isWithRuns] })) !== undefined;
}

/** Only sweep calls this. Resolves to false for a cluster that is deregistered. */
export async function recordShifts(
  table: Table,
  cluster: string,
  { byShifts, reading }: Pick<ZonesState, 'byShifts'> & { readonly reading: ShiftsReading },
): Promise<boolean> {
  const { byShifts: zones, reading: state } = attributes;
  const set = { [zones]: JSON.stringify(byShifts), [state]: JSON.stringify(reading) };
  return (await table.update(metaKey(cluster), { set }, isRegistered)) !== undefined;
}
