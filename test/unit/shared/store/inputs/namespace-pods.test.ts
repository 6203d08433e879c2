import { expect, it } from 'vitest';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { NamespacePods, PodsTooLarge } from '#shared/store/inputs/namespace-pods.ts';
import { putObject, readObject } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { pod } from '#test/unit/shared/kube/objects.ts';

const enough = 1 << 20;

function namespace() {
  const table = memoryTable();
  let queries = 0;
  const counted: Table = {
    ...table,
    query(...args) {
      queries++;
      return table.query(...args);
    },
  };
  const store = { table: counted, cluster: 'c' };
  const pods = new NamespacePods();
  return {
    read: async (maxBytes = enough) => (await pods.podsOf(store, 'ns', maxBytes)).map(({ name }) => name),
    queries: () => queries,
    write: async (name: string, rv: string, exists = true): Promise<void> => {
      const projection = exists ? encodeProjection('Pod', pod(name)) : undefined;
      const record = {
        namespace: 'ns',
        name,
        version: versionOf(1, rv),
        projection,
        unnotifiedLabels: undefined,
        deletedAtMs: 0,
      };
      await putObject(store, 'Pod', record, await readObject(store, 'Pod', 'ns', name));
    },
  };
}

it('a namespace is read by one call each time, without its deleted Pods', async () => {
  const { read, write, queries } = namespace();
  await write('a', '5');
  expect(await read()).toEqual(['a']);
  await write('b', '6');
  await write('a', '7', false);
  expect(await read()).toEqual(['b']);
  expect(queries()).toBe(2);
});

it('callers that come during a read share the next read', async () => {
  const { read, write, queries } = namespace();
  await Promise.all(Array.from({ length: 10 }, () => read()));
  expect(queries()).toBe(1);
  const first = read();
  while (queries() < 2) await Promise.resolve();
  await write('late', '5');
  expect(await Promise.all([...Array.from({ length: 10 }, () => read())])).toEqual(Array(10).fill(['late']));
  await first;
  expect(queries()).toBe(3);
});

it('a read of one bound does not end by the smaller bound of another caller', async () => {
  const { read, write } = namespace();
  await write('a', '5');
  const [small, large] = await Promise.allSettled([read(10), read()]);
  expect(small).toMatchObject({ status: 'rejected', reason: expect.any(PodsTooLarge) });
  expect(large).toEqual({ status: 'fulfilled', value: ['a'] });
});
