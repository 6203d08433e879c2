/**
 * The table of a world: in memory, or a real server (DynamoDB Local, dynalite) by the driver of production.
 */
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable } from '#infra/local/table/create-table.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { drainByImmediate } from './scheduler.ts';

export interface SimulatedTable extends Table {
  /** All that it holds, by partition, then sort key. */
  items(): Promise<readonly Item[]>;
}

export function inMemory(): SimulatedTable {
  const table = memoryTable();
  return { ...table, items: async () => table.dump() };
}

export interface RealTable {
  readonly table: SimulatedTable;
  /**
   * Resolves when no call and no task is pending. Virtual time does not advance meanwhile, so the seed
   * decides the order of events.
   */
  readonly drain: () => Promise<void>;
  readonly drop: () => Promise<void>;
}

/** A table of its own for one world. Without expiry: the world's clock is not the server's. */
export async function onServer(endpoint: string, tableName: string): Promise<RealTable> {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await createTable(client, tableName);
  const inner = dynamoTable(client, tableName);
  let underWay = 0;
  let settled = (): void => {};
  const counted =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      underWay++;
      try {
        return await call(...args);
      } finally {
        underWay--;
        settled();
      }
    };
  const table: Table = {
    get: counted(inner.get),
    query: counted(inner.query),
    put: counted(inner.put),
    update: counted(inner.update),
    delete: counted(inner.delete),
    queryDirty: counted(inner.queryDirty),
    scanKeys: counted(inner.scanKeys),
  };
  return {
    table: { ...table, items: () => allItems(table) },
    async drain() {
      for (;;) {
        await drainByImmediate();
        if (underWay === 0) return;
        await new Promise<void>((resolve) => {
          settled = resolve;
        });
      }
    },
    async drop() {
      await client.send(new DeleteTableCommand({ TableName: tableName }));
      client.destroy();
    },
  };
}

async function allItems(table: Table): Promise<readonly Item[]> {
  const partitions = new Set<string>();
  for (let next: Parameters<Table['scanKeys']>[0] | 'begin' = 'begin'; next !== undefined; ) {
    const page: Awaited<ReturnType<Table['scanKeys']>> = await table.scanKeys(
      next === 'begin' ? undefined : next,
    );
    for (const { pk } of page.keys) partitions.add(pk);
    next = page.next;
  }
  return (await Promise.all([...partitions].sort().map((pk) => table.query(pk)))).flat();
}
