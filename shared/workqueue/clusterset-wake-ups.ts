/** All exports and imports of a cluster: after a switch, and with each resync. */
import { importsAnything } from '#shared/clusters/clusterset-membership.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { namesInSet } from '#shared/store/clusterset-index.ts';
import { isAlive, readObjects } from '#shared/store/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { exportWork, importWork } from './rules/clusterset-items.ts';
import { type WakeUp, wakeNow } from './rules/message.ts';

/** Also of exports that the cluster may make no more, or that are gone: their runs withdraw them. */
export async function clustersetWakeUps(table: Table, { id, clusterset }: ClusterRecord): Promise<readonly WakeUp[]> {
  const store = { table, cluster: id };
  const exports = (await readObjects(store, 'ServiceExport', '')).map((r) => wakeNow(r.namespace, exportWork(r.name)));
  if (!importsAnything({ clusterset })) return exports;
  const namespaces = (await readObjects(store, 'Namespace', '')).filter(isAlive);
  const imports = await concurrently(8, namespaces, async ({ name }) =>
    (await namesInSet(table, clusterset.set, name)).map((exported) => wakeNow(name, importWork(exported))),
  );
  return [...exports, ...imports.flat()];
}
