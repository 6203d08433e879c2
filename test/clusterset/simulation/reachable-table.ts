import type { Table } from '#shared/store/table.ts';
import type { SimulatedTable } from '#test/worlds/simulation/world/simulated-table.ts';

/** The table as the hub's processes reach it. */
export function reachable(table: SimulatedTable, isGone: () => boolean): SimulatedTable {
  const guarded =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (isGone()) throw new Error('the table is lost');
      return call(...args);
    };
  const methods: readonly (keyof Table)[] = [
    'get',
    'query',
    'put',
    'update',
    'delete',
    'queryDirty',
    'scanKeys',
  ];
  return {
    ...table,
    ...Object.fromEntries(methods.map((method) => [method, guarded(table[method] as never)])),
  };
}
