/** Returns the console's table, whose reads are left out of the table's metrics. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import type { Table } from '#shared/store/table.ts';
import { region, tableName } from '../processes/child-specs.ts';
import { unmeteredClient } from './table-meter.ts';

export function unmeteredTable(tableUrl: string): Table {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return dynamoTable(
    new DynamoDBClient({ region, credentials, endpoint: tableUrl, customUserAgent: unmeteredClient }),
    tableName,
  );
}
