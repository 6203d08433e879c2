import { labelZone, labelZoneId } from './names.ts';
import type { Node } from './types.ts';

/** The first Ready condition is True; a node without one is not ready (EV-20). */
export function isNodeReady(node: Node): boolean {
  return node.status?.conditions?.find((c) => c.type === 'Ready')?.status === 'True';
}

/** The value of the zone label; "" without one. */
export function zoneOf(node: Node): string {
  return node.metadata.labels?.[labelZone] ?? '';
}

/** The node is known, and in one of the zones. */
export const isInZones = (node: Node | undefined, zones: ReadonlySet<string>): boolean =>
  node !== undefined && zoneOf(node) !== '' && zones.has(zoneOf(node));

/** The value of AWS's label for the zone's id; "" without one. */
export function zoneIdOf(node: Node): string {
  return node.metadata.labels?.[labelZoneId] ?? '';
}
