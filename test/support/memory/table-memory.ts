/**
 * The table in memory, deterministic. A call takes effect when it is made and resolves in a later microtask,
 * so a wrapper that delays the call or its answer makes every order that DynamoDB could. It refuses what
 * DynamoDB would refuse.
 */

import { dirtyKeysOf } from '#shared/store/dirty-index.ts';
import { itemSize } from '#shared/store/item-size.ts';
import {
  type Change,
  type Item,
  type Key,
  RangeTooLarge,
  type Table,
  type Value,
  type WriteCondition,
} from '#shared/store/table.ts';
import { compareBytes } from './table-memory-values.ts';

export interface MemoryTable extends Table {
  /** All items by partition, then sort key. */
  dump(): readonly Item[];
  /** Replaces everything, as a restore from a backup does. */
  restore(items: readonly Item[]): void;
  /** Units that DynamoDB would bill on demand so far, with the index. */
  readonly units: { readonly read: number; readonly write: number };
  resetUnits(): void;
}

export function memoryTable(): MemoryTable {
  const partitions = new Map<string, Item[]>();
  const units = { read: 0, write: 0 };
  /** An item that is stored never changes, and is counted at every read. */
  const sizes = new WeakMap<Item, number>();

  function sizeOf(item: Item | undefined): number {
    if (!item) return 0;
    let size = sizes.get(item);
    if (size === undefined) {
      size = itemSize(item);
      sizes.set(item, size);
    }
    return size;
  }

  function find(pk: string, sk: string): { items: Item[]; at: number; item: Item | undefined } {
    const items = partitions.get(pk) ?? [];
    const at = firstNotBelow(items, sk);
    return { items, at, item: items[at]?.sk === sk ? items[at] : undefined };
  }

  function write(
    key: Key,
    next: (old: Item | undefined) => Item | undefined,
    condition: WriteCondition | undefined,
  ): Item | undefined | false {
    checkKey(key);
    const { items, at, item: old } = find(key.pk, key.sk);
    const before = sizeOf(old);
    // A refused write is billed for the existing item.
    if (condition && !holds(condition, old)) {
      units.write += started(before, 1024);
      return false;
    }
    const item = next(old);
    const after = sizeOf(item);
    if (after > 400 * 1024)
      throw new RangeError(
        `item ${key.pk} ${key.sk} has ${after} bytes: more than the 400 KB that DynamoDB allows`,
      );
    units.write += started(Math.max(before, after), 1024) + indexWrites(old, item);
    items.splice(at, old ? 1 : 0, ...(item ? [item] : []));
    if (items.length > 0) partitions.set(key.pk, items);
    else partitions.delete(key.pk);
    return item;
  }

  return {
    units,
    async get({ pk, sk }) {
      checkKey({ pk, sk });
      const { item } = find(pk, sk);
      units.read += started(sizeOf(item), 4096);
      return item;
    },
    async query(pk, { from = '', to, atMost, only, maxBytes = Number.POSITIVE_INFINITY } = {}) {
      if (to === '')
        throw new RangeError('a key range that ends at the empty key: leave the end open instead');
      const items = partitions.get(pk) ?? [];
      const first = firstAbove(items, from);
      const end = to === undefined ? items.length : firstAbove(items, to);
      const found = items.slice(first, atMost === undefined ? end : Math.min(end, first + atMost));
      const bytes = found.reduce((sum, i) => sum + sizeOf(i), 0);
      units.read += started(Math.min(bytes, maxBytes), 4096);
      if (bytes > maxBytes) throw new RangeTooLarge(`the items have more than ${maxBytes} bytes`);
      return only ? found.map((item) => projected(item, only)) : found;
    },
    async put(item, condition) {
      return write(item, () => stored(item), condition) !== false;
    },
    async update(key, change, condition) {
      return (
        write(key, (old) => stored(changed(old ?? { pk: key.pk, sk: key.sk }, change)), condition) ||
        undefined
      );
    },
    async delete(key, condition) {
      return write(key, () => undefined, condition) !== false;
    },
    async queryDirty(cluster, until, limit) {
      const keys = dirtyKeysOf(cluster);
      const dirty: (Key & { readonly dirtyAt: number })[] = [];
      for (const items of partitions.values()) {
        for (const { pk, sk, dirtyIn, dirtyAt } of items) {
          if (keys.includes(dirtyIn as string) && typeof dirtyAt === 'number' && dirtyAt <= until)
            dirty.push({ pk, sk, dirtyAt });
        }
      }
      const found = dirty
        .sort((a, b) => a.dirtyAt - b.dirtyAt || compareBytes(a.pk, b.pk) || compareBytes(a.sk, b.sk))
        .slice(0, limit);
      units.read += 0.5 * keys.length * started((found.length / keys.length) * 150, 4096);
      return found;
    },
    async scanKeys(after) {
      const keys = [...partitions.keys()]
        .sort(compareBytes)
        .flatMap((pk) => (partitions.get(pk) ?? []).map(({ sk }) => ({ pk, sk })));
      const isAfter = (key: Key): boolean =>
        !after ||
        compareBytes(key.pk, after.pk) > 0 ||
        (key.pk === after.pk && compareBytes(key.sk, after.sk) > 0);
      const page = keys.filter(isAfter);
      return {
        keys: page.slice(0, keysPerPage),
        next: page.length > keysPerPage ? page[keysPerPage - 1] : undefined,
      };
    },
    dump() {
      return [...partitions.keys()].sort(compareBytes).flatMap((pk) => partitions.get(pk) ?? []);
    },
    restore(items) {
      partitions.clear();
      for (const item of [...items].sort((a, b) => compareBytes(a.sk, b.sk))) {
        const partition = partitions.get(item.pk) ?? [];
        partition.push(stored(item));
        partitions.set(item.pk, partition);
      }
    },
    resetUnits() {
      units.read = 0;
      units.write = 0;
    },
  };
}

/** A small page, so scans need several pages. */
const keysPerPage = 20;

/** Every started unit counts, and at least one. */
const started = (bytes: number, unit: number): number => Math.max(1, Math.ceil(bytes / unit));

function firstNotBelow(items: readonly Item[], sk: string): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes((items[middle] as Item).sk, sk) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first whose sort key is greater. */
function firstAbove(items: readonly Item[], sk: string): number {
  const at = firstNotBelow(items, sk);
  return items[at]?.sk === sk ? at + 1 : at;
}

/** Entry put or taken away: one write; moved: two; keys only, so nothing else touches it. */
function indexWrites(old: Item | undefined, item: Item | undefined): number {
  const entry = (i: Item | undefined) =>
    typeof i?.['dirtyIn'] === 'string' && typeof i['dirtyAt'] === 'number'
      ? `${i['dirtyAt']} ${i['dirtyIn']}`
      : undefined;
  const [from, to] = [entry(old), entry(item)];
  if (from === to) return 0;
  return from !== undefined && to !== undefined ? 2 : 1;
}

function holds(c: WriteCondition, item: Item | undefined): boolean {
  if ('absent' in c) return item?.[c.absent] === undefined;
  if ('present' in c) return item?.[c.present] !== undefined;
  if ('attribute' in c) {
    const value = 'than' in c ? item?.[c.than] : c.value;
    const order = value === undefined ? undefined : compareValues(item?.[c.attribute], value);
    if (order === undefined) return false;
    return { '=': order === 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[c.is];
  }
  const list = 'all' in c ? c.all : c.any;
  if (list.length === 0) throw new RangeError('a condition that lists nothing');
  return 'all' in c ? list.every((part) => holds(part, item)) : list.some((part) => holds(part, item));
}

/** Undefined when they do not compare: absent, or of different types. */
function compareValues(actual: Value | undefined, value: Value): number | undefined {
  if (typeof actual === 'string' && typeof value === 'string') return compareBytes(actual, value);
  if (typeof actual === 'number' && typeof value === 'number') return actual - value;
  return undefined;
}

function changed(item: Item, change: Change): Item {
  const { set = {}, setIfAbsent = {}, add = {}, remove = [] } = change;
  const touched = new Set<string>();
  const touch = (name: string): void => {
    if (touched.has(name)) throw new TypeError(`an attribute is changed twice: ${name}`);
    if (name === 'pk' || name === 'sk') throw new TypeError('the key of an item cannot be changed');
    touched.add(name);
  };
  for (const part of [set, setIfAbsent, add]) for (const name in part) touch(name);
  for (const name of remove) touch(name);
  const next: Record<string, Value> = { ...setIfAbsent, ...item, ...set };
  for (const [name, value] of Object.entries(add)) next[name] = sum(name, item[name], value);
  for (const name of remove) delete next[name];
  return next as Item;
}

function sum(name: string, old: Value | undefined, value: number | ReadonlySet<number>): Value {
  if (typeof value === 'number' && (old === undefined || typeof old === 'number')) return (old ?? 0) + value;
  if (value instanceof Set && (old === undefined || old instanceof Set))
    return new Set([...((old as Set<number>) ?? []), ...value]);
  throw new TypeError(`attribute ${name} is of another type than what is added`);
}

const projected = (item: Item, only: readonly string[]): Item =>
  Object.fromEntries(
    Object.entries(item).filter(([name]) => name === 'pk' || name === 'sk' || only.includes(name)),
  ) as Item;

/** A copy that later changes of the caller's own do not reach. */
function stored(item: Item): Item {
  const copy: Record<string, Value> = {};
  for (const name in item) copy[name] = copyValue(name, item[name] as Value);
  return Object.freeze(copy) as Item;
}

function copyValue(name: string, value: Value): Value {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (value instanceof Set && value.size > 0) return new Set(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`attribute ${name} is not a value of the table: ${String(value)}`);
}

function checkKey({ pk, sk }: Key): void {
  if (!pk || !sk) throw new TypeError(`a key attribute is empty: "${pk}" "${sk}"`);
}
