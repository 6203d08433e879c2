/**
 * The names that a cluster exports for its set, by cluster. They wake export runs as ServiceExports do, so a
 * run finds an entry whose ServiceExport is gone. The run of an export saves the name before the entry, and
 * deletes it after the entry is deleted and the wake-ups are sent.
 */

import { exportedKey, exportedOf, nameOfPair, pairsOf } from '#shared/store/keys.ts';
import { keysIn } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';
import type { SetKey } from './clusterset-index.ts';

/**
 * `pending`: wake-ups for a change of the entry may not be sent yet. Any other text names the run that has
 * sent its wake-ups, whose retry sends no others. Undefined: the cluster exports nothing under the name.
 */
export type ExportMark = string | undefined;

const pending = 'pending';
const sentBy = 'w';

export async function readExportMark(
  table: Table,
  { set, namespace, name }: SetKey,
  cluster: string,
): Promise<ExportMark> {
  const item = await table.get(exportedKey(set, cluster, namespace, name));
  return item && (item[pending] === 1 ? pending : String(item[sentBy] ?? ''));
}

/** By the export run of the cluster, under its lease, or by sweep for a cluster that leaves. */
export async function saveExportMark(
  table: Table,
  { set, namespace, name }: SetKey,
  cluster: string,
  mark: ExportMark,
): Promise<void> {
  const at = exportedKey(set, cluster, namespace, name);
  if (mark === undefined) await table.delete(at);
  else await table.put({ ...at, ...(mark === pending ? { [pending]: 1 } : { [sentBy]: mark }) });
}

/** In order. `namespace` undefined: of all of them. */
export async function* exportsOfCluster(
  table: Table,
  set: string,
  cluster: string,
  namespace?: string,
): AsyncGenerator<SetKey> {
  const range = namespace === undefined ? undefined : pairsOf(namespace);
  for await (const sk of keysIn(table, exportedOf(set, cluster), range)) yield { set, ...nameOfPair(sk) };
}
