import type { Item, KeyRange, Table } from './table.ts';

/**
 * Every item of the partition in the range, in key order, with only `atOnce` of them in memory: for partitions that grow with what a cluster, or its
 * relay, creates.
 */
export async function* inPages(table: Table, pk: string, atOnce: number, range?: Omit<KeyRange, 'atMost'>): AsyncGenerator<Item> {
  for await (const page of pagesOf(table, pk, atOnce, range)) yield* page;
}

/** The same, page by page. */
export async function* pagesOf(
  table: Table,
  pk: string,
  atOnce: number,
  { from, ...range }: Omit<KeyRange, 'atMost'> = {},
): AsyncGenerator<readonly Item[]> {
  for (let after = from; ; ) {
    const page = await table.query(pk, { ...range, ...(after !== undefined && { from: after }), atMost: atOnce });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < atOnce) return;
    after = last.sk;
  }
}

/** All of them in one array: for names, and where the number of items has a bound. */
export async function listed<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const keysAtOnce = 1_000;

/** The sort keys of the partition in the range, in order, a page of them in memory. */
export async function* keysIn(table: Table, pk: string, range: Omit<KeyRange, 'atMost' | 'keysOnly'> = {}): AsyncGenerator<string> {
  for await (const { sk } of inPages(table, pk, keysAtOnce, { ...range, keysOnly: true })) yield sk;
}
