/** Finds the imports whose hints change when the cluster gets nodes in a new zone (docs/clusterset.md). */
import { hasSynced } from '#shared/clusters/first-lists.ts';
import { localityOfExport } from '#shared/clusterset/locality.ts';
import type { ExportedService } from '#shared/clusterset/precedence.ts';
import { concurrently } from '#shared/concurrently.ts';
import { zoneOf } from '#shared/kube/nodes.ts';
import { readSetNamespace } from '#shared/store/clusterset-index.ts';
import { type ObjectName, objectNamesIn } from '#shared/store/object-keys.ts';
import { decodeObjectOf, objectPages } from '#shared/store/objects.ts';
import { listed } from '#shared/store/pages.ts';
import type { BatchContext } from '../batch/batch-context.ts';

const nodesAtOnce = 1_000;

/** A zone without nodes needs no run: its hints concern no node. */
export async function importsOfNewZones({ deps, cluster, store, effects }: BatchContext): Promise<readonly ObjectName[]> {
  const changed = effects.pending.filter(({ kind, isZoneKept }) => kind === 'Node' && isZoneKept !== true);
  const zones = new Set(changed.flatMap(({ record }) => decodeObjectOf('Node', record) ?? []).map(zoneOf));
  zones.delete('');
  // After first lists every import is woken.
  if (zones.size === 0 || !hasSynced(cluster)) return [];
  const names = new Set(changed.map(({ record }) => record.name));
  for await (const page of objectPages(store, 'Node', '', nodesAtOnce))
    for (const record of page) {
      const node = names.has(record.name) ? undefined : decodeObjectOf('Node', record);
      if (node) zones.delete(zoneOf(node));
    }
  if (zones.size === 0) return [];
  const namespaces = await listed(objectNamesIn(store, 'Namespace', ''));
  const preferring = await concurrently(4, namespaces, async ({ name: namespace }) => {
    const names: ObjectName[] = [];
    for await (const [name, { exportTexts }] of readSetNamespace(deps.table, cluster.clusterset.set, namespace))
      if ([...exportTexts.values()].some(prefers)) names.push({ namespace, name });
    return names;
  });
  return preferring.flat();
}

function prefers(exportText: string): boolean {
  const { locality, spec } = JSON.parse(exportText) as ExportedService;
  return localityOfExport(locality, spec.trafficDistribution) !== undefined;
}
