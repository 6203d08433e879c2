/** Counts the table's requests for the first lists of a cluster, which are the same on every machine. */
import type { Key } from '#shared/store/table.ts';
import { HubWorld } from '#test/support/hub-world.ts';
import { type ClusterSize, clusterObjects } from './cost/cluster-objects.ts';

/** Write units that a partition of DynamoDB takes in a second before it is split by its keys. */
const partitionUnitsASecond = 1_000;

export interface CountedLists {
  readonly calls: { readonly reads: number; readonly writes: number };
  readonly writeUnits: number;
  /** The partition with the most writes. */
  readonly busiest: { readonly partition: string; readonly writeUnits: number; readonly seconds: number };
}

export async function countFirstLists(size: ClusterSize): Promise<CountedLists> {
  const startAt = Date.parse('2026-01-02T00:00:00Z');
  const world = await HubWorld.start({ given: clusterObjects(size), startAt, settings: {} });
  const { table } = world;
  const calls = { reads: 0, writes: 0 };
  const units = new Map<string, number>();
  for (const operation of ['get', 'query'] as const) {
    const inner = table[operation] as (...args: readonly unknown[]) => Promise<unknown>;
    Object.assign(table, {
      [operation]: (...args: readonly unknown[]) => {
        calls.reads++;
        return inner(...args);
      },
    });
  }
  for (const operation of ['put', 'update', 'delete'] as const) {
    const inner = table[operation] as (key: Key, ...args: readonly unknown[]) => Promise<unknown>;
    Object.assign(table, {
      [operation]: (key: Key, ...args: readonly unknown[]) => {
        calls.writes++;
        const before = table.units.write;
        const result = inner(key, ...args);
        units.set(key.pk, (units.get(key.pk) ?? 0) + table.units.write - before);
        return result;
      },
    });
  }
  table.resetUnits();
  await world.runUntil(startAt + 5 * 60_000);
  const [partition = '', writeUnits = 0] = [...units].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  return {
    calls,
    writeUnits: table.units.write,
    busiest: { partition, writeUnits, seconds: writeUnits / partitionUnitsASecond },
  };
}
