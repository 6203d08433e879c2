import { isNodeReady, zoneOf } from '#shared/kube/nodes.ts';
import type { Node } from '#shared/kube/types.ts';

/**
 * The topology of the cluster is to be looked at again (EV-20): a node came, went, changed its readiness or
 * its zone.
 */
export function nodeChange(old: Node | undefined, next: Node | undefined): boolean {
  if (!old || !next) return old !== next;
  return isNodeReady(old) !== isNodeReady(next) || zoneOf(old) !== zoneOf(next);
}
