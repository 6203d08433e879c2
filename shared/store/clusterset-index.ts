/** The exports of the clusters of a set, by namespace and name: every importer's merge is made of them. `exports-of-cluster.ts` has them by cluster. */
import { setKey, setOf, setRange, unescaped } from './keys.ts';
import { inPages, keysIn } from './pages.ts';
import type { Condition, Item, Table } from './table.ts';

export interface SetKey {
  readonly set: string;
  readonly namespace: string;
  readonly name: string;
}

export interface SetEntries {
  /**
   * By cluster, what its export run found last, as text (shared/clusterset's ExportedService, with the cluster's id in it). A cluster that exports
   * nothing under the name is not there.
   */
  readonly faces: ReadonlyMap<string, string>;
  /** By exporting cluster, the generation of its export for which the importers are woken already (`noteWoken`). */
  readonly woken: ReadonlyMap<string, number>;
  /** By importing cluster, why its import could not be made, as text (ExportFailure); one whose import is as it should be is not there. */
  readonly failures: ReadonlyMap<string, string>;
  /** Text of the sticky winner. */
  readonly winner: string | undefined;
  /** Importing clusters whose run has changed its failure and not yet woken the exports of the name. */
  readonly owed: ReadonlySet<string>;
  /** Items that no run has made: without a text that can be read, or with another cluster's. They count for nothing; `mendSet` deletes them. */
  readonly rubbish: readonly Item[];
}

/** The entries of one name. One strong read, so that a merge sees every export that was written before it was woken. */
export async function readSetEntries(table: Table, { set, namespace, name }: SetKey): Promise<SetEntries> {
  return entriesOf(await table.query(setOf(set, namespace), setRange(name)));
}

function entriesOf(items: readonly Item[]): SetEntries {
  const entries = items.map((item) => ({ ...partsOf(item.sk), item }));
  const isSound = ({ entry, of, item }: (typeof entries)[number]): boolean => isWhole[entry ?? 'none'](of, item[face]);
  const sound = entries.filter(isSound);
  const textsOf = (wanted: Entry): ReadonlyMap<string, string> =>
    new Map(sound.flatMap(({ entry, of, item }) => (entry === wanted ? [[of, item[face] as string] as const] : [])));
  const woken = sound.flatMap(({ entry, of, item }) => (entry === 'E' && typeof item[wokenFor] === 'number' ? [[of, item[wokenFor]] as const] : []));
  return {
    faces: textsOf('E'),
    woken: new Map(woken),
    failures: textsOf('I'),
    winner: textsOf('W').get(''),
    owed: new Set(sound.flatMap(({ entry, of }) => (entry === 'O' ? [of] : []))),
    rubbish: entries.filter((e) => !isSound(e)).map(({ item }) => item),
  };
}

/** By a run that has met them. An item that has changed meanwhile stays. */
export async function mendSet(table: Table, { rubbish }: SetEntries): Promise<void> {
  for (const { pk, sk, [face]: text } of rubbish)
    await table.delete({ pk, sk }, text === undefined ? { absent: face } : { attribute: face, is: '=', value: text as string });
}

/** The names that are exported in a namespace, or were, in order. No text of an export is read. */
export async function* namesInSet(table: Table, set: string, namespace: string): AsyncGenerator<string> {
  let last: string | undefined;
  for await (const sk of keysIn(table, setOf(set, namespace))) {
    const { name, entry } = partsOf(sk);
    if (entry !== undefined && name !== last) yield name;
    last = name;
  }
}

/** The entries of each name that is exported in a namespace, or was, in order; those of some names at a time are in memory. */
export async function* readSetNamespace(table: Table, set: string, namespace: string): AsyncGenerator<readonly [name: string, entries: SetEntries]> {
  let items: Item[] = [];
  const nameOf = ({ sk }: Item): string => partsOf(sk).name;
  for await (const item of inPages(table, setOf(set, namespace), entriesAtOnce)) {
    const [first] = items;
    if (first && nameOf(first) !== nameOf(item)) {
      yield [nameOf(first), entriesOf(items)];
      items = [];
    }
    items.push(item);
  }
  const [first] = items;
  if (first) yield [nameOf(first), entriesOf(items)];
}

/**
 * By the export run of the cluster alone, under its lease. `text` undefined: the cluster exports the name no more. `before`: what the run has read, before
 * it read the records that `text` is made of (`{}`: nothing was there). False: it is not there any more, so a newer run has saved what it knows.
 */
export async function saveExportEntry(
  table: Table,
  key: SetKey,
  cluster: string,
  text: string | undefined,
  before?: { readonly text?: string | undefined },
): Promise<boolean> {
  const at = setKey(key.set, key.namespace, key.name, 'E', cluster);
  const condition = before && asItWas(before.text);
  return text === undefined ? table.delete(at, condition) : table.put({ ...at, [face]: text }, condition);
}

const asItWas = (text: string | undefined): Condition => (text === undefined ? { absent: face } : { attribute: face, is: '=', value: text });

/** The run of the export has woken the importers, and is to come again for its own cluster, which cannot be asked: its importers need no second run. */
export async function noteWoken(table: Table, key: SetKey, cluster: string, generation: number): Promise<void> {
  await table.update(setKey(key.set, key.namespace, key.name, 'E', cluster), { set: { [wokenFor]: generation } }, { present: face });
}

/** Save it before a failure is changed, and delete it after the exports of the name are woken. A repeated run finds it, and wakes them. */
export async function savePendingWakeUp(table: Table, key: SetKey, importer: string, isOwed: boolean): Promise<void> {
  const at = setKey(key.set, key.namespace, key.name, 'O', importer);
  if (isOwed) await table.put({ ...at });
  else await table.delete(at);
}

/** By the import run of the cluster alone, under its lease. */
export async function saveImportFailure(table: Table, key: SetKey, importer: string, text: string | undefined): Promise<void> {
  const at = setKey(key.set, key.namespace, key.name, 'I', importer);
  if (text === undefined) await table.delete(at);
  else await table.put({ ...at, [face]: text });
}

/** Deletes the failures of an importer that leaves. Resolves to their names. */
export async function forgetImportFailures(table: Table, set: string, namespace: string, importer: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const sk of keysIn(table, setOf(set, namespace))) {
    const { name, entry, of } = partsOf(sk);
    if (entry === 'I' && of === importer) names.push(name);
  }
  for (const name of names) await saveImportFailure(table, { set, namespace, name }, importer, undefined);
  return names;
}

/** `text` undefined: nothing exports the name any more. False: another run has named a winner since `before` was read. */
export async function saveWinner(table: Table, key: SetKey, text: string | undefined, before: string | undefined): Promise<boolean> {
  const at = setKey(key.set, key.namespace, key.name, 'W');
  return text === undefined ? table.delete(at, asItWas(before)) : table.put({ ...at, [face]: text }, asItWas(before));
}

const face = 'f';
const wokenFor = 'g';
/** Items of a namespace that are read at once, with their texts. */
const entriesAtOnce = 100;

/** An export, the failure of an import, the winner, or an importer whose wake-ups are pending. */
type Entry = 'E' | 'I' | 'W' | 'O';

/** `of`: the cluster; of a W "". Without `entry` no run has made the key. */
function partsOf(sk: string): { readonly name: string; readonly entry: Entry | undefined; readonly of: string } {
  const [name = '', entry = '', of = '', ...more] = sk.split('#').map(unescaped);
  const isEntry = more.length === 0 && /^[EIOW]$/.test(entry) && (of === '') === (entry === 'W');
  return { name, entry: isEntry ? (entry as Entry) : undefined, of };
}

/** Does a run save such a text under such a key? */
const isWhole: { readonly [E in Entry | 'none']: (of: string, text: unknown) => boolean } = {
  E: (cluster, text) => objectIn(text)?.['cluster'] === cluster,
  I: (_, text) => objectIn(text) !== undefined,
  W: (_, text) => objectIn(text) !== undefined,
  O: () => true,
  none: () => false,
};

function objectIn(text: unknown): { readonly [field: string]: unknown } | undefined {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return typeof value === 'object' && value !== null ? (value as { readonly [field: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}
