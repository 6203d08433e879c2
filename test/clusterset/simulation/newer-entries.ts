/**
 * The table as one cluster of a set reaches it, whose hub functions are a version ahead: its entries in the
 * set have fields that the others do not know.
 */
import type { ExportedService } from '#shared/clusterset/exports/precedence.ts';
import { type ImportState, stateOf } from '#shared/clusterset/imports/import-state.ts';
import type { Item, Key, WriteCondition } from '#shared/store/table.ts';
import type { SimulatedTable } from '#test/worlds/simulation/world/simulated-table.ts';

export const newField = 'fieldOfTheFuture';
const value = { nested: [1] };

export function withNewerEntries(table: SimulatedTable, cluster: string): SimulatedTable {
  const isOwn = ({ pk, sk }: Key): boolean => pk.startsWith('SET#') && sk.endsWith(`#E#${cluster}`);
  const digestOf = (text: string): string =>
    stateOf(new Map([[cluster, text]]), undefined).has[cluster] as string;
  /** Digests of the texts as this cluster has them, by the digests that importers confirm. */
  const digests = new Map<string, string>();
  const read = (item: Item): Item => {
    const { f, s } = item;
    if (isOwn(item) && typeof f === 'string') return { ...item, f: known(f) };
    if (!item.pk.startsWith('IMPORTED#') || typeof s !== 'string') return item;
    const state = JSON.parse(s) as ImportState;
    const digest = digests.get(state.has[cluster] ?? '');
    return digest === undefined
      ? item
      : { ...item, s: JSON.stringify({ ...state, has: { ...state.has, [cluster]: digest } }) };
  };
  return {
    ...table,
    get: async (key) => {
      const item = await table.get(key);
      return item && read(item);
    },
    query: async (pk, range) => (await table.query(pk, range)).map(read),
    put: (item, condition) => {
      if (!isOwn(item)) return table.put(item, condition);
      const text = item['f'] as string;
      digests.set(digestOf(newer(text)), digestOf(text));
      return table.put({ ...item, f: newer(text) }, condition && asNewer(condition));
    },
    delete: (key, condition) => table.delete(key, isOwn(key) && condition ? asNewer(condition) : condition),
  };
}

const asNewer = (condition: WriteCondition): WriteCondition =>
  'value' in condition && condition.attribute === 'f'
    ? { ...condition, value: newer(condition.value as string) }
    : condition;

function newer(text: string): string {
  const { spec, ...more } = JSON.parse(text) as ExportedService;
  const ports = spec.ports?.map((port) => ({ ...port, [newField]: value }));
  return JSON.stringify({
    ...more,
    spec: { ...spec, ...(ports && { ports }), [newField]: value },
    [newField]: value,
  });
}

const known = (text: string): string =>
  JSON.stringify(JSON.parse(text), (key, v: unknown) => (key === newField ? undefined : v));
