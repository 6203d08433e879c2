/**
 * The port to the table. It has only DynamoDB's own operations, so each rule of the protocol is written once
 * above it, and runs unchanged on every driver (dynamodb.ts, and test/support/memory/table-memory.ts).
 *
 * All reads are strongly consistent except `queryDirty` and `scanKeys`. Attributes are flat, without nested
 * paths.
 */

export type Value = string | number | Uint8Array | ReadonlySet<number>;

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** An item with the keys pk and sk, which are always text, and its attributes. */
export type Item = { readonly [attribute: string]: Value } & Key;

/**
 * `than` names another attribute. A comparison with an absent attribute is false. All attributes of an absent
 * item are absent. Text compares by UTF-8 bytes.
 */
export type WriteCondition =
  | { readonly absent: string }
  | { readonly present: string }
  | {
      readonly attribute: string;
      readonly is: '=' | '<' | '<=' | '>' | '>=';
      readonly value: string | number;
    }
  | { readonly attribute: string; readonly is: '>='; readonly than: string }
  | { readonly all: readonly WriteCondition[] }
  | { readonly any: readonly WriteCondition[] };

/** Returns the condition that the attribute is absent or compares so. */
export const absentOr = (
  attribute: string,
  is: '=' | '<' | '<=',
  value: string | number,
): WriteCondition => ({
  any: [{ absent: attribute }, { attribute, is, value }],
});

/**
 * A record's decoder reads attributes by these. One that is absent, or of another type, is undefined.
 */
export function numberIn(item: Item | undefined, attribute: string): number | undefined {
  const value = item?.[attribute];
  return typeof value === 'number' ? value : undefined;
}

export function textIn(item: Item | undefined, attribute: string): string | undefined {
  const value = item?.[attribute];
  return typeof value === 'string' ? value : undefined;
}

/** The hub alone writes the text, so its type is known by the attribute. */
export function jsonIn<T>(item: Item | undefined, attribute: string): T | undefined {
  const text = textIn(item, attribute);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Returns the attribute's number, or 0 if it is absent. */
export const numberOf = (item: Item | undefined, attribute: string): number => numberIn(item, attribute) ?? 0;

export interface Change {
  readonly set?: { readonly [attribute: string]: Value };
  /** DynamoDB's if_not_exists: only an absent attribute is set. */
  readonly setIfAbsent?: { readonly [attribute: string]: Value };
  /** Adds to numbers (absent = 0) and to number sets. */
  readonly add?: { readonly [attribute: string]: number | ReadonlySet<number> };
  readonly remove?: readonly string[];
}

/** Sort keys k with from < k ≤ to, as bytes. Either end may be open. */
export interface KeyRange {
  readonly from?: string;
  readonly to?: string;
  /** Maximum number of items. */
  readonly atMost?: number;
  /**
   * Returns items with their keys and these attributes only, so a reader of many names does not hold their
   * content.
   */
  readonly only?: readonly string[];
  /**
   * The query rejects with RangeTooLarge if the items have more bytes together. It reads at most one page
   * more, which has 1 MiB.
   */
  readonly maxBytes?: number | undefined;
}

/** The items of a range have more bytes than the caller reads. */
export class RangeTooLarge extends Error {
  override readonly name = 'RangeTooLarge';
}

export interface Table {
  get(key: Key): Promise<Item | undefined>;
  /** Resolves to every item of the partition in the range, in key order, from as many pages as needed. */
  query(pk: string, range?: KeyRange): Promise<readonly Item[]>;
  /** Resolves to false if the condition fails. The item is then unchanged. */
  put(item: Item, condition?: WriteCondition): Promise<boolean>;
  /**
   * Creates an absent item if the condition allows it. Resolves to the changed item, or to undefined if the
   * condition fails.
   */
  update(key: Key, change: Change, condition?: WriteCondition): Promise<Item | undefined>;
  /** Resolves to false if the condition fails. */
  delete(key: Key, condition?: WriteCondition): Promise<boolean>;
  /**
   * Queries the sparse index of overdue work. Resolves to at most `limit` items whose `dirtyIn` is one of the
   * cluster's keys (dirty-index.ts) and `dirtyAt` ≤ until (ms since the epoch), oldest first. The index is
   * eventually consistent and has only the keys and these two attributes, so read the item before acting on
   * it.
   */
  queryDirty(
    cluster: string,
    untilMs: number,
    limit: number,
  ): Promise<readonly (Key & { readonly dirtyAt: number })[]>;
  /**
   * Resolves to the keys of the table's next page after `after`, in a stable but arbitrary order, eventually
   * consistent. `next` continues unless undefined.
   */
  scanKeys(
    after: Key | undefined,
  ): Promise<{ readonly keys: readonly Key[]; readonly next: Key | undefined }>;
}
