/**
 * Zones, their share of the cluster's CPUs, and how many endpoints each should be served by (TA-0..9;
 * upstream's topologycache).
 */

import {
  annotationTopologyAwareHints,
  annotationTopologyMode,
  labelControlPlane,
  labelMaster,
} from '#shared/kube/names.ts';
import { isNodeReady, zoneOf } from '#shared/kube/nodes.ts';
import type { AddressType, Node, Service } from '#shared/kube/types.ts';
import type { HintsRecord } from '../plan.ts';
import { parseQuantity, toMilli } from './quantity.ts';

/** Zone → its part of all allocatable CPUs, by zone name. */
export type ZoneRatios = ReadonlyMap<string, number>;

const cpuOf = ({ status }: Node): bigint => parseQuantity(status?.allocatable?.['cpu'] ?? '') ?? 0n;

function isControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return labelControlPlane in labels || labelMaster in labels;
}

/**
 * Returns undefined if a node that counts lacks its zone or CPUs, or if the nodes have fewer than two zones
 * (TA-1, TA-2). Upstream has an empty map until it has seen a node (TA-3). The caller makes one for a cluster
 * without nodes.
 */
export function zoneRatios(nodes: Iterable<Node>): ZoneRatios | undefined {
  const cpuByZone = new Map<string, bigint>();
  let total = 0n;
  for (const node of nodes) {
    if (isControlPlane(node) || !isNodeReady(node)) continue;
    const zone = zoneOf(node);
    const cpu = cpuOf(node);
    if (zone === '' || cpu === 0n) return undefined;
    cpuByZone.set(zone, (cpuByZone.get(zone) ?? 0n) + cpu);
    total += cpu;
  }
  if (total === 0n || cpuByZone.size < 2) return undefined;
  return new Map(
    [...cpuByZone]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([zone, cpu]) => [zone, toMilli(cpu) / toMilli(total)]),
  );
}

/** Does the annotation ask for hints by zone (TA-0)? */
export function hintsEnabled(service: Service): boolean {
  const annotations = service.metadata.annotations;
  const mode = annotations?.[annotationTopologyAwareHints] ?? annotations?.[annotationTopologyMode];
  return mode === 'Auto' || mode === 'auto';
}

/** Returns true if these ratios require new hints for the service (TA-7, TA-9). */
export function isOverloaded(hints: HintsRecord | undefined, ratios: ZoneRatios | undefined): boolean {
  return Object.values(hints?.zones ?? {}).some((counts) =>
    isZoneOverloaded(new Map(Object.entries(counts)), ratios),
  );
}

function isZoneOverloaded(counts: ReadonlyMap<string, number>, ratios: ZoneRatios | undefined): boolean {
  if (counts.size === 0) return false;
  if (!ratios?.size) return true;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...ratios].some(
    ([zone, ratio]) => (counts.get(zone) ?? -1) < Math.ceil(total * ratio * withinThreshold),
  );
}

export interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

/** Zone → how many of the ready endpoints should hint at it (TA-4, TA-5), or why that cannot be (TA-20). */
export function allocate(
  ratios: ZoneRatios | undefined,
  endpoints: number,
): ReadonlyMap<string, Allocation> | string {
  if (!ratios)
    return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
  if (ratios.size < 2) return 'Nodes only ready in one zone';
  const counts = `(${endpoints} endpoints, ${ratios.size} zones)`;
  if (ratios.size > endpoints) return `Insufficient number of endpoints ${counts}`;
  const minima = [...ratios].map(([zone, ratio]) => {
    const desired = ratio * endpoints;
    const minimum = Math.ceil(desired * withinThreshold);
    return { zone, minimum, desired: Math.max(desired, minimum) };
  });
  const spare = minima.reduce((left, { minimum }) => left - minimum, endpoints);
  if (spare < 0)
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`;
  return new Map(
    minima.map(({ zone, minimum, desired }) => [zone, { minimum, maximum: minimum + spare, desired }]),
  );
}

/** A zone may be overloaded by 20 percent (G-4). */
const withinThreshold = 1 / (1 + 0.2);

/** The record without the hints of that type; "populated" goes for the whole service (TA-17). */
export function recordWithoutHints(
  record: HintsRecord | undefined,
  addressType: string,
): HintsRecord | undefined {
  const zones = Object.entries(record?.zones ?? {}).filter(([type]) => type !== addressType);
  return zones.length > 0 ? { populated: false, zones: Object.fromEntries(zones) } : undefined;
}

export function recordWithHints(
  record: HintsRecord | undefined,
  addressType: AddressType,
  counts: ReadonlyMap<string, number>,
): HintsRecord {
  return { populated: true, zones: { ...record?.zones, [addressType]: Object.fromEntries(counts) } };
}
