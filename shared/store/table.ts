/**
 * The port to the one table. It is DynamoDB's own vocabulary and nothing more, so that each rule of the protocol is
 * written once, above it, and runs unchanged on every driver (dynamodb.ts, and test/support/table-memory.ts).
 *
 * All reads are strongly consistent except `queryDirty` and `scanKeys`. Attributes are flat: no nested paths.
 */

export type Value = string | number | boolean | Uint8Array | ReadonlySet<number>;

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** pk, sk and the item's attributes. The two keys are always text. */
export type Item = { readonly [attribute: string]: Value } & Key;

/** A comparison with an absent attribute is false; an absent item has no attributes. Text compares by UTF-8 bytes. */
export type Condition =
  | { readonly absent: string }
  | { readonly present: string }
  | { readonly attribute: string; readonly is: '=' | '<' | '<=' | '>' | '>='; readonly value: string | number | boolean }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] };

export interface Change {
  readonly set?: { readonly [attribute: string]: Value };
  /** DynamoDB's if_not_exists: only an absent attribute is set. */
  readonly setIfAbsent?: { readonly [attribute: string]: Value };
  /** Set to the number that another attribute was before this update, which may change it; 0 where that was absent. */
  readonly setFormer?: { readonly [attribute: string]: string };
  /** Numbers are added to (absent = 0), number sets are united. */
  readonly add?: { readonly [attribute: string]: number | ReadonlySet<number> };
  readonly remove?: readonly string[];
}

/** Sort keys k with from < k ≤ to, as bytes; either end may be left open. */
export interface KeyRange {
  readonly from?: string;
  readonly to?: string;
  /** The first so many of them. */
  readonly atMost?: number;
  /** The items have their keys and no other attribute: a reader of many names is not sent what is stored under them. */
  readonly keysOnly?: boolean;
}

export interface Table {
  get(key: Key): Promise<Item | undefined>;
  /** Every item of the partition in the range, in key order, in as many pages as that takes. */
  query(pk: string, range?: KeyRange): Promise<readonly Item[]>;
  /** False when the condition does not hold; the item is then as it was. */
  put(item: Item, condition?: Condition): Promise<boolean>;
  /** Creates the item if it is absent and the condition allows it. The item as it is now, or undefined when the condition does not hold. */
  update(key: Key, change: Change, condition?: Condition): Promise<Item | undefined>;
  /** False when the condition does not hold. */
  delete(key: Key, condition?: Condition): Promise<boolean>;
  /**
   * The sparse index of overdue work: items that have both attributes `dirtyIn` (text, one of the cluster's keys of dirty-index.ts) and
   * `dirtyAt` (ms since the epoch) with dirtyAt ≤ until, oldest first, at most `limit`. Eventually consistent:
   * keys and those two attributes only; read the item before acting on it.
   */
  queryDirty(cluster: string, untilMs: number, limit: number): Promise<readonly (Key & { readonly dirtyAt: number })[]>;
  /** The keys of the table's next page after `after`, in no order but always the same; eventually consistent. `next`: where to go on, if there is more. */
  scanKeys(after: Key | undefined): Promise<{ readonly keys: readonly Key[]; readonly next: Key | undefined }>;
}
