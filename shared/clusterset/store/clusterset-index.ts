/**
 * The exports of the clusters of a set, by namespace and name. Every importer merges them.
 * `exports-of-cluster.ts` has them by cluster.
 */
import { setKey, setOf, setRange, unescaped } from '#shared/store/keys.ts';
import { inPages, keysIn } from '#shared/store/pages.ts';
import type { Item, Table, WriteCondition } from '#shared/store/table.ts';

export interface SetKey {
  readonly set: string;
  readonly namespace: string;
  readonly name: string;
}

export interface SetEntries {
  /**
   * The newest export of each cluster, by cluster, as text (shared/clusterset's ExportedService, with the
   * cluster's id). Clusters that do not export the name are absent.
   */
  readonly exportTexts: ReadonlyMap<string, string>;
  /** Text of the sticky winner. */
  readonly winner: string | undefined;
}

/**
 * Returns the entries of a name by one strong read, so a merge sees every export that was written before its
 * wake-up.
 */
export async function readSetEntries(table: Table, { set, namespace, name }: SetKey): Promise<SetEntries> {
  return entriesOf(await table.query(setOf(set, namespace), setRange(name)));
}

/** Ignores other kinds of entries, which a newer version may save. */
function entriesOf(items: readonly Item[]): SetEntries {
  const exportTexts = new Map<string, string>();
  let winner: string | undefined;
  for (const { sk, [textAttribute]: text } of items) {
    const { entry, cluster } = partsOf(sk);
    if (typeof text !== 'string') continue;
    if (entry === 'E') exportTexts.set(cluster, text);
    if (entry === 'W') winner = text;
  }
  return { exportTexts, winner };
}

/**
 * Yields the exported and formerly exported names of a namespace in order, without reading the texts of
 * exports.
 */
export async function* namesInSet(table: Table, set: string, namespace: string): AsyncGenerator<string> {
  let last: string | undefined;
  for await (const sk of keysIn(table, setOf(set, namespace))) {
    const { name, entry } = partsOf(sk);
    if (entry === undefined || name === last) continue;
    yield name;
    last = name;
  }
}

/**
 * Yields the entries of each exported and formerly exported name of a namespace in order, with those of some
 * names in memory at a time.
 */
export async function* readSetNamespace(
  table: Table,
  set: string,
  namespace: string,
): AsyncGenerator<readonly [name: string, entries: SetEntries]> {
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
 * Only the export run of the cluster calls this, under its lease. `text` is undefined if the cluster no
 * longer exports the name. `before` is the text that the run read before it read the records of `text` (`{}`
 * if absent). Resolves to false if a newer run has saved another text.
 */
export async function saveExportEntry(
  table: Table,
  { set, namespace, name, cluster }: SetKey & { readonly cluster: string },
  text: string | undefined,
  before?: { readonly text?: string | undefined },
): Promise<boolean> {
  const at = setKey(set, namespace, name, 'E', cluster);
  const condition = before && asItWas(before.text);
  return text === undefined
    ? table.delete(at, condition)
    : table.put({ ...at, [textAttribute]: text }, condition);
}

const asItWas = (text: string | undefined): WriteCondition =>
  text === undefined ? { absent: textAttribute } : { attribute: textAttribute, is: '=', value: text };

/**
 * An undefined `text` means that no cluster exports the name any more. Resolves to false if another run has
 * saved a winner since `before` was read.
 */
export async function saveWinner(
  table: Table,
  key: SetKey,
  text: string | undefined,
  before: string | undefined,
): Promise<boolean> {
  const at = setKey(key.set, key.namespace, key.name, 'W');
  return text === undefined
    ? table.delete(at, asItWas(before))
    : table.put({ ...at, [textAttribute]: text }, asItWas(before));
}

const textAttribute = 'f';
/** Number of a namespace's items that are read at once, with their texts. */
const entriesAtOnce = 100;

/** An export (E) or the winner (W). */
type Entry = 'E' | 'W';

/** `cluster` is the exporting one, or "" for the winner. `entry` is undefined for an invalid key. */
function partsOf(sk: string): {
  readonly name: string;
  readonly entry: Entry | undefined;
  readonly cluster: string;
} {
  const [name = '', entry = '', cluster = '', ...more] = sk.split('#').map(unescaped);
  const isEntry = more.length === 0 && /^[EW]$/.test(entry) && (cluster === '') === (entry === 'W');
  return { name, entry: isEntry ? (entry as Entry) : undefined, cluster };
}
