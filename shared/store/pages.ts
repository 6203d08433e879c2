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
  { from, to }: Omit<KeyRange, 'atMost'> = {},
): AsyncGenerator<readonly Item[]> {
  for (let after = from; ; ) {
    const page = await table.query(pk, { ...(after !== undefined && { from: after }), ...(to !== undefined && { to }), atMost: atOnce });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < atOnce) return;
    after = last.sk;
  }
}
