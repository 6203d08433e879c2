import { expect, it } from 'vitest';
import { namespacesInRange, nextNamespaces } from '#shared/store/inputs/namespaces.ts';
import { namespaceKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const names = ['a', 'b', 'b-2', 'b.c', 'c', 'd'];

async function index() {
  const memory = memoryTable();
  for (const name of names) await memory.put({ ...namespaceKey('k', name), n: 1 });
  await memory.update(namespaceKey('k', 'c'), { set: { noService: 1 } });
  const read: Item[] = [];
  const table: Table = {
    ...memory,
    async query(pk, range) {
      const items = await memory.query(pk, range);
      read.push(...items);
      return items;
    },
  };
  return { table, read: () => read.map((i) => i.sk.slice(0, -1)) };
}

it.each<readonly [string, string, readonly string[], readonly string[]]>([
  ['', '', ['a', 'b', 'b-2', 'b.c', 'd'], ['a', 'b', 'b-2', 'b.c', 'c', 'd']],
  // The ranges lie within a namespace, and span an empty one.
  ['b/svc-1', 'b/svc-9', ['b'], ['b.c', 'b']],
  ['b/svc-1', 'd/', ['b', 'd'], ['b.c', 'b', 'c', 'd']],
  ['d/svc-1', '', ['d'], ['d']],
])('a list’s part from "%s" to "%s" reads only its range of the index', async (from, to, found, reads) => {
  const { table, read } = await index();
  const namespaces = await namespacesInRange({ table, cluster: 'k' }, 'Service', { from, to });
  expect(namespaces.map((n) => n.name).sort()).toEqual([...found].sort());
  expect(read().sort()).toEqual([...reads].sort());
});

it('page by page each namespace is met once', async () => {
  const { table } = await index();
  const met: string[] = [];
  let last: string | undefined;
  do {
    const page = await nextNamespaces({ table, cluster: 'k' }, 'Service', last, 2);
    expect(page.read).toBeLessThanOrEqual(2);
    met.push(...page.namespaces.map((n) => n.name));
    last = page.last;
  } while (last !== undefined);
  expect(met.sort()).toEqual(['a', 'b', 'b-2', 'b.c', 'd']);
});
