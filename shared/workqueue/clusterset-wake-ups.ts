/** All exports and imports of a cluster: after a switch, and with each resync. */
import { importsAnything } from '#shared/clusters/clusterset-membership.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { namesInSet } from '#shared/store/clusterset-index.ts';
import { isAlive, readObjects } from '#shared/store/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { type WakeUp, wakeNow } from './rules/message.ts';
import { exportWork, importWork } from './rules/work-kind.ts';

/** Also of exports that the cluster may make no more, or that are gone: their runs withdraw them. */
export async function clustersetWakeUps(table: Table, { id, clusterset }: ClusterRecord): Promise<readonly WakeUp[]> {
  const store = { table, cluster: id };
  const exports = (await readObjects(store, 'ServiceExport', '')).map((r) => wakeNow(r.namespace, exportWork(r.name)));
  if (!importsAnything({ clusterset })) return exports;
  const namespaces = (await readObjects(store, 'Namespace', '')).filter(isAlive);
  const imports = await concurrently(8, namespaces, async ({ name }) =>
    (await namesInSet(table, clusterset.set, name)).map((exported) => ({ namespace: name, name: exported })),
  );
  // One that nothing exports, and that the index of the set does not know any more, is withdrawn by its run (MC-83).
  const made = (await readObjects(store, 'ServiceImport', '')).filter(isAlive);
  const all = new Map([...imports.flat(), ...made].map(({ namespace, name }) => [`${namespace}/${name}`, wakeNow(namespace, importWork(name))]));
  return [...exports, ...all.values()];
}
