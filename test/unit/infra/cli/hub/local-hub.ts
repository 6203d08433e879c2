/** The table and queue servers of a local run, in this process, with one cluster that they know. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import dynalite from 'dynalite';
import { createQueues } from '#infra/local/queues/create-queues.ts';
import { startQueues } from '#infra/local/queues/queues.ts';
import { createTable } from '#infra/local/table/create-table.ts';
import { queueDirectory } from '#shared/clusters/queue-directory.ts';
import type { QueueUrls } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';

const region = 'eu-west-1';
const tableName = 'fleet-endpoints';

export type QueueName = keyof QueueUrls | 'deadEvents' | 'deadSyncs';

export async function localHub() {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-'));
  const queues = await startQueues(0, folder);
  const server = dynalite({ createTableMs: 0 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const common = { region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const queuesUrl = `http://127.0.0.1:${queues.port}`;
  const tableUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dynamodb = new DynamoDBClient({ ...common, endpoint: tableUrl });
  const sqs = new SQSClient({ ...common, endpoint: queuesUrl });
  await createTable(dynamodb, tableName);
  const table = dynamoTable(dynamodb, tableName);
  const urls = new Map<string, { readonly [Q in QueueName]: string }>();

  return {
    table,
    folder,
    sqs,
    dynamodb,
    directory: queueDirectory(table, sqs),
    addresses: { tableUrl, queuesUrl, tableName, region },
    async register(id: string): Promise<void> {
      const { urls: made, eventsArn, syncsArn } = await createQueues(sqs, queuesUrl, region, id);
      await registerCluster(table, { id, mode: 'active', queues: made, eventsArn, syncsArn }, Date.now());
      urls.set(id, { ...made, deadEvents: `${made.events}-dead`, deadSyncs: `${made.syncs}-dead` });
    },
    async put(cluster: string, queue: QueueName, body: string): Promise<void> {
      await sqs.send(new SendMessageCommand({ QueueUrl: urls.get(cluster)?.[queue], MessageBody: body }));
    },
    /** Sends it to a cluster's queue, whose receivers fail until SQS moves it to the dead-letter queue. */
    async letDie(cluster: string, queue: 'events' | 'syncs', body: string): Promise<void> {
      const QueueUrl = urls.get(cluster)?.[queue];
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
      const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 });
      while ((await sqs.send(receive)).Messages !== undefined);
    },
    /** How many messages are in the queue, in flight or not. */
    async depth(cluster: string, queue: QueueName): Promise<number> {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: urls.get(cluster)?.[queue], AttributeNames: ['All'] }),
      );
      return (
        Number(Attributes['ApproximateNumberOfMessages']) +
        Number(Attributes['ApproximateNumberOfMessagesNotVisible'])
      );
    },
    /** Takes what can be taken now. */
    async take(cluster: string, queue: QueueName): Promise<readonly unknown[]> {
      const QueueUrl = urls.get(cluster)?.[queue];
      const taken: unknown[] = [];
      for (;;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
        );
        if (Messages.length === 0) return taken;
        for (const { Body = '', ReceiptHandle } of Messages) {
          taken.push(decodeMessage(Body));
          await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        }
      }
    },
    async close(): Promise<void> {
      sqs.destroy();
      dynamodb.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await queues.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
