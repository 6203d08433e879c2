/**
 * A name without a Service in the cluster that other clusters of its set export, or would: what explain and
 * history say of it instead of "no service".
 */
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { explainSet } from './explain/explain-set.ts';
import { readSet } from './read-set.ts';

/** Undefined: no cluster of the set has a ServiceExport of the name. */
export async function unknownName(
  table: Table,
  cluster: ClusterRecord,
  key: ServiceKey,
  now: number,
): Promise<string | undefined> {
  const { set } = membershipOf(cluster);
  const { namespace, name } = key;
  if (set === '' || name === '') return undefined;
  const own = await readSet(table, cluster, key, now);
  if (own && explainSet(own)?.importSummary !== undefined) {
    const derived = `${namespace}/${derivedName(namespace, name)}`;
    return `${namespace}/${name} is an import in ${cluster.id}: no history is kept of imports and of their derived Services, here ${derived}; explain tells what the last run wrote`;
  }
  const others = (await listClusters(table)).filter((id) => id !== cluster.id);
  const exports = await concurrently(16, others, (id) => exportOf(table, id, { set, namespace, name }, now));
  const found = exports.filter((text) => text !== undefined);
  return found.length === 0
    ? undefined
    : `${namespace}/${name} is not imported by ${cluster.id}: ${found.join('; ')}`;
}

async function exportOf(
  table: Table,
  id: string,
  { set, namespace, name }: { readonly set: string; readonly namespace: string; readonly name: string },
  now: number,
): Promise<string | undefined> {
  const record = await readCluster(table, id);
  if (!record || membershipOf(record).set !== set) return undefined;
  const read = await readSet(table, record, { cluster: id, namespace, name }, now);
  const summary = read && explainSet(read)?.exportSummary;
  return summary && `in ${id}: ${summary}`;
}
