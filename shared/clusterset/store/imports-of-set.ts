/**
 * The state of a name's import in each importing cluster (shared/clusterset/imports/import-state.ts), as text. The
 * exports of the name report it. Importers read only their own, so a change of a pod costs an importer as
 * much in a set of a hundred clusters as in a set of two.
 */

import { importedKey, importedOf, setRange, unescaped } from '#shared/store/keys.ts';
import { keysIn } from '#shared/store/pages.ts';
import { type Item, numberOf, type Table, textIn } from '#shared/store/table.ts';
import type { SetKey } from './clusterset-index.ts';

export interface StoredImportState {
  readonly text: string;
  /** The exports of the name are not woken yet. */
  readonly isPending: boolean;
}

export async function readImportState(
  table: Table,
  { set, namespace, name }: SetKey,
  importer: string,
): Promise<StoredImportState | undefined> {
  const item = await table.get(importedKey(set, namespace, name, importer));
  return item && decodeImportState(item);
}

/** Returns the texts by importing cluster. */
export async function readImportStates(
  table: Table,
  { set, namespace, name }: SetKey,
): Promise<ReadonlyMap<string, string>> {
  const items = await table.query(importedOf(set, namespace), setRange(name));
  return new Map(items.map((item) => [partsOf(item).importer, decodeImportState(item).text]));
}

const decodeImportState = (item: Item): StoredImportState => ({
  text: textIn(item, text) ?? '',
  isPending: numberOf(item, pending) === 1,
});

/** By the import run of the cluster, under its lease. Undefined: the cluster has no import of the name. */
export async function saveImportState(
  table: Table,
  { set, namespace, name }: SetKey,
  importer: string,
  state: StoredImportState | undefined,
): Promise<void> {
  const at = importedKey(set, namespace, name, importer);
  if (state === undefined) await table.delete(at);
  else await table.put({ ...at, [text]: state.text, ...(state.isPending && { [pending]: 1 }) });
}

/** Deletes the states of an importer that leaves the set. Resolves to their names. */
export async function forgetImportStates(
  table: Table,
  set: string,
  namespace: string,
  importer: string,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const sk of keysIn(table, importedOf(set, namespace))) {
    const of = partsOf({ sk });
    if (of.importer === importer) names.push(of.name);
  }
  for (const name of names) await saveImportState(table, { set, namespace, name }, importer, undefined);
  return names;
}

const text = 's';
const pending = 'o';

function partsOf({ sk }: Pick<Item, 'sk'>): { readonly name: string; readonly importer: string } {
  const [name = '', importer = ''] = sk.split('#').map(unescaped);
  return { name, importer };
}
