import type { Item, KeyRange, Table } from './table.ts';

/**
 * Yields every item of the partition in the range, in key order, with only `atOnce` items in memory. For
 * partitions that grow with the objects of a cluster or its relay.
 */
export async function* inPages(
  table: Table,
  pk: string,
  atOnce: number,
  range?: Omit<KeyRange, 'atMost'>,
): AsyncGenerator<Item> {
  for await (const page of pagesOf(table, pk, atOnce, range)) yield* page;
}

/** Yields the same items page by page. */
export async function* pagesOf(
  table: Table,
  pk: string,
  atOnce: number,
  { from, ...range }: Omit<KeyRange, 'atMost'> = {},
): AsyncGenerator<readonly Item[]> {
  for (let after = from; ; ) {
    const page = await table.query(pk, {
      ...range,
      ...(after !== undefined && { from: after }),
      atMost: atOnce,
    });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < atOnce) return;
    after = last.sk;
  }
}

/** Resolves to all items in one array, for names and for bounded numbers of items. */
export async function listed<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const keysAtOnce = 1_000;

/** Yields the sort keys of the partition in the range, in order, with a page of them in memory. */
export async function* keysIn(
  table: Table,
  pk: string,
  range: Omit<KeyRange, 'atMost' | 'only'> = {},
): AsyncGenerator<string> {
  for await (const { sk } of inPages(table, pk, keysAtOnce, { ...range, only: [] })) yield sk;
}
