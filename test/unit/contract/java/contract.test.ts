/** The contracts of table and queue on servers that others wrote: Amazon's DynamoDB Local and ElasticMQ. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll } from 'vitest';
import { createTable } from '#infra/local/table/create-table.ts';
import { forFrequentCalls, frequentCallConfig } from '#shared/aws-client-config.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { type JavaServer, startDynamoDbLocal, startElasticMq } from '#test/support/aws/java-server.ts';
import { largeMessagesContract, queueContract } from '#test/unit/contract/queue.ts';
import { sqsUnderTest } from '#test/unit/contract/sqs-under-test.ts';
import { tableContract } from '#test/unit/contract/table.ts';

const local = { region: 'eu-west-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
const servers: JavaServer[] = [];
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
let sqsWithoutLimits: SQSClient;

beforeAll(async () => {
  const started = await Promise.all([
    startDynamoDbLocal(),
    startElasticMq('strict'),
    startElasticMq('relaxed'),
  ]);
  const [table, queues, queuesWithoutLimits] = started;
  servers.push(...started);
  dynamodb = forFrequentCalls(
    new DynamoDBClient({ ...frequentCallConfig, ...local, endpoint: table.endpoint }),
  );
  sqs = forFrequentCalls(new SQSClient({ ...frequentCallConfig, ...local, endpoint: queues.endpoint }));
  sqsWithoutLimits = forFrequentCalls(
    new SQSClient({ ...frequentCallConfig, ...local, endpoint: queuesWithoutLimits.endpoint }),
  );
  await createTable(dynamodb, 'fleet');
});
afterAll(async () => {
  dynamodb?.destroy();
  sqs?.destroy();
  sqsWithoutLimits?.destroy();
  await Promise.all(servers.map((server) => server.stop()));
});

tableContract('DynamoDB Local', async () => dynamoTable(dynamodb, 'fleet'));
queueContract('SQS (ElasticMQ)', async () => sqsUnderTest(sqs));
// ElasticMQ has the limits of SQS before 2025: 256 KiB.
largeMessagesContract('SQS (ElasticMQ without limits)', async () => sqsUnderTest(sqsWithoutLimits));
