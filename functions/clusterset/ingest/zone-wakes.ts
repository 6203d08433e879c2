import type { BatchContext } from '#functions/ingest/batch/batch-context.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { zoneOf } from '#shared/kube/nodes.ts';
import { decodeObjectOf, objectPages } from '#shared/store/inputs/objects.ts';

const nodesAtOnce = 1_000;

/**
 * Returns true if the batch has the cluster's first node in a zone, because hints of imports change then
 * (docs/use/clusterset.md). A zone without nodes needs no run: its hints concern no node.
 */
export async function hasNewZone({ cluster, store, effects }: BatchContext): Promise<boolean> {
  const changed = effects.pending.filter(({ kind, isZoneKept }) => kind === 'Node' && isZoneKept !== true);
  const zones = new Set(changed.flatMap(({ record }) => decodeObjectOf('Node', record) ?? []).map(zoneOf));
  zones.delete('');
  // After first lists every import is woken.
  if (zones.size === 0 || !hasSynced(cluster)) return false;
  const names = new Set(changed.map(({ record }) => record.name));
  for await (const page of objectPages(store, 'Node', '', nodesAtOnce)) {
    const others = page.filter(({ name }) => !names.has(name));
    for (const node of others.flatMap((record) => decodeObjectOf('Node', record) ?? []))
      zones.delete(zoneOf(node));
  }
  return zones.size > 0;
}
