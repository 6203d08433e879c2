/**
 * The names that a cluster exports for its set, by cluster: what wakes its export runs goes by these as well as by its ServiceExports, so an entry of the
 * set without an export is found. The run of the export saves the name before its entry, and forgets it after the entry and the wake-ups.
 */
import type { SetKey } from './clusterset-index.ts';
import { exportedKey, exportedOf, nameOfPair, pairsOf } from './keys.ts';
import { keysIn } from './pages.ts';
import type { Table } from './table.ts';

/** `owed`: the entry may have changed since importers and exports of the name were woken. Undefined: the cluster exports nothing under the name. */
export type ExportMark = 'owed' | 'settled' | undefined;

const owed = 'owed';

export async function readExportMark(table: Table, { set, namespace, name }: SetKey, cluster: string): Promise<ExportMark> {
  const item = await table.get(exportedKey(set, cluster, namespace, name));
  return item && (item[owed] === 1 ? 'owed' : 'settled');
}

/** By the export run of the cluster, under its lease, or by sweep for a cluster that leaves. */
export async function saveExportMark(table: Table, { set, namespace, name }: SetKey, cluster: string, mark: ExportMark): Promise<void> {
  const at = exportedKey(set, cluster, namespace, name);
  if (mark === undefined) await table.delete(at);
  else await table.put({ ...at, ...(mark === 'owed' && { [owed]: 1 }) });
}

/** In order. `namespace` undefined: of all of them. */
export async function* exportsOfCluster(table: Table, set: string, cluster: string, namespace?: string): AsyncGenerator<SetKey> {
  const range = namespace === undefined ? undefined : pairsOf(namespace);
  for await (const sk of keysIn(table, exportedOf(set, cluster), range)) yield { set, ...nameOfPair(sk) };
}
