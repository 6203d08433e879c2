/** What the clusters of a set export, by namespace and name: what every importer's merge is made of. */
import { setKey, setOf } from './keys.ts';
import type { Condition, Item, Table } from './table.ts';

export interface SetKey {
  readonly set: string;
  readonly namespace: string;
  readonly name: string;
}

export interface SetEntries {
  /** By cluster, what its export run has found last, as text (shared/clusterset's ExportedService). A cluster that exports no more is not there. */
  readonly faces: ReadonlyMap<string, string>;
  /** By exporting cluster, the generation of its export for which the importers are woken already (`noteWoken`). */
  readonly woken: ReadonlyMap<string, number>;
  /** By importing cluster, why its import could not be made, as text (ExportFailure); one whose import is as it should be is not there. */
  readonly failures: ReadonlyMap<string, string>;
  /** Text of the sticky winner. */
  readonly winner: string | undefined;
  /** Runs that have changed an entry and not yet woken the exports of the name: by the run's work item and cluster, as `owing` makes it. */
  readonly owed: ReadonlySet<string>;
}

/** Of one name. One strong read, so that a merge sees every export that was written before it was woken. */
export async function readSetEntries(table: Table, { set, namespace, name }: SetKey): Promise<SetEntries> {
  // "$" is the byte behind "#".
  return entriesOf(name, await table.query(setOf(set, namespace), { from: `${name}#`, to: `${name}$` }));
}

function entriesOf(name: string, items: readonly Item[]): SetEntries {
  const textsOf = (entry: Entry): ReadonlyMap<string, string> =>
    new Map(items.flatMap((item) => (partsOf(item).entry === entry ? [[partsOf(item).cluster, item[face] as string] as const] : [])));
  const woken = items.flatMap((item) =>
    partsOf(item).entry === 'E' && typeof item[wokenFor] === 'number' ? [[partsOf(item).cluster, item[wokenFor]] as const] : [],
  );
  return {
    faces: textsOf('E'),
    woken: new Map(woken),
    failures: textsOf('I'),
    winner: items.find((item) => item.sk === winnerOf(name))?.[face] as string | undefined,
    owed: new Set(items.flatMap((item) => (partsOf(item).entry === 'O' ? [partsOf(item).cluster] : []))),
  };
}

/** The names that are exported in a namespace, or were. */
export async function namesInSet(table: Table, set: string, namespace: string): Promise<readonly string[]> {
  return [...new Set((await table.query(setOf(set, namespace))).map((item) => partsOf(item).name))];
}

/** Of each name that is exported in a namespace, or was. */
export async function readSetNamespace(table: Table, set: string, namespace: string): Promise<ReadonlyMap<string, SetEntries>> {
  const byName = Map.groupBy(await table.query(setOf(set, namespace)), (item) => partsOf(item).name);
  return new Map([...byName].map(([name, items]) => [name, entriesOf(name, items)] as const));
}

/**
 * By the export run of the cluster alone, under its lease. `text` undefined: the cluster exports the name no more. `before`: what the run has read, before
 * it read the records that `text` is made of (`{}`: nothing was there). False: it is not there any more, so a newer run has saved what it knows.
 */
export async function saveFace(
  table: Table,
  key: SetKey,
  cluster: string,
  text: string | undefined,
  before?: { readonly text?: string | undefined },
): Promise<boolean> {
  const at = setKey(key.set, key.namespace, faceOf(key.name, cluster));
  const condition = before && asItWas(before.text);
  return text === undefined ? table.delete(at, condition) : table.put({ ...at, [face]: text }, condition);
}

const asItWas = (text: string | undefined): Condition => (text === undefined ? { absent: face } : { attribute: face, is: '=', value: text });

/** The run of the export has woken the importers, and is to come again for its own cluster, which cannot be asked: its importers need no second run. */
export async function noteWoken(table: Table, key: SetKey, cluster: string, generation: number): Promise<void> {
  await table.update(setKey(key.set, key.namespace, faceOf(key.name, cluster)), { set: { [wokenFor]: generation } }, { present: face });
}

/** `work`: export or import. */
export const owing = (work: 'export' | 'import', cluster: string): string => `${work}:${cluster}`;

/** Before an entry is changed, and after the exports of the name are woken: a run that ends in between is repeated, and finds its entry as it is to be. */
export async function saveOwed(table: Table, key: SetKey, by: string, isOwed: boolean): Promise<void> {
  const at = setKey(key.set, key.namespace, `${key.name}#O#${by}`);
  if (isOwed) await table.put({ ...at });
  else await table.delete(at);
}

/** By the import run of the cluster alone, under its lease. */
export async function saveImportFailure(table: Table, key: SetKey, importer: string, text: string | undefined): Promise<void> {
  const at = setKey(key.set, key.namespace, failureOf(key.name, importer));
  if (text === undefined) await table.delete(at);
  else await table.put({ ...at, [face]: text });
}

/** Of an importer that leaves. Resolves to the names that it had something to say of. */
export async function forgetImportFailures(table: Table, set: string, namespace: string, importer: string): Promise<readonly string[]> {
  const parts = (await table.query(setOf(set, namespace))).map(partsOf);
  const names = parts.filter(({ entry, cluster }) => entry === 'I' && cluster === importer).map(({ name }) => name);
  for (const name of names) await saveImportFailure(table, { set, namespace, name }, importer, undefined);
  return names;
}

/** False: another run has named a winner since `before` was read. */
export async function saveWinner(table: Table, key: SetKey, text: string, before: string | undefined): Promise<boolean> {
  const at = setKey(key.set, key.namespace, winnerOf(key.name));
  return table.put({ ...at, [face]: text }, asItWas(before));
}

const face = 'f';
const wokenFor = 'g';
const faceOf = (name: string, cluster: string): string => `${name}#E#${cluster}`;
const failureOf = (name: string, importer: string): string => `${name}#I#${importer}`;
const winnerOf = (name: string): string => `${name}#W`;

/** An export, the failure of an import, the winner, or what a run owes. */
type Entry = 'E' | 'I' | 'W' | 'O';

function partsOf({ sk }: Item): { readonly name: string; readonly entry: Entry; readonly cluster: string } {
  const [name = '', entry, cluster = ''] = sk.split('#');
  return { name, entry: entry as Entry, cluster };
}
