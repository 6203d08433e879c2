import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { dirtyIndex, tableKey } from '#shared/contract/table-attributes.ts';

/** Creates the table unless it exists, and waits until it is active. */
export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(new CreateTableCommand(tableDefinition(tableName)));
  } catch (e) {
    if (!(e instanceof ResourceInUseException)) throw e;
  }
  while (
    (await client.send(new DescribeTableCommand({ TableName: tableName }))).Table?.TableStatus !== 'ACTIVE'
  )
    await sleep(10);
}

function tableDefinition(tableName: string): CreateTableCommandInput {
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: tableKey.partition, AttributeType: 'S' },
      { AttributeName: tableKey.sort, AttributeType: 'S' },
      { AttributeName: dirtyIndex.partition, AttributeType: 'S' },
      { AttributeName: dirtyIndex.sort, AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: tableKey.partition, KeyType: 'HASH' },
      { AttributeName: tableKey.sort, KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: dirtyIndex.name,
        KeySchema: [
          { AttributeName: dirtyIndex.partition, KeyType: 'HASH' },
          { AttributeName: dirtyIndex.sort, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  };
}
