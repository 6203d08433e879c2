import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { sqsQueue } from '#shared/queue/sqs.ts';
import type { QueueUnderTest } from './queue.ts';

let queues = 0;

/** Creates a queue and its dead-letter queue on a server with the protocol of SQS. */
export async function sqsUnderTest(sqs: SQSClient): Promise<QueueUnderTest> {
  const id = queues++;
  const dead = (await sqs.send(new CreateQueueCommand({ QueueName: `dead-${id}` }))).QueueUrl as string;
  const arnOf = async (QueueUrl: string): Promise<string> =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))).Attributes?.[
      'QueueArn'
    ] as string;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: await arnOf(dead), maxReceiveCount: 2 });
  const url = (
    await sqs.send(
      new CreateQueueCommand({ QueueName: `q-${id}`, Attributes: { VisibilityTimeout: '2', RedrivePolicy } }),
    )
  ).QueueUrl as string;
  const receive = async (QueueUrl: string, max: number) => {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: max,
      MessageSystemAttributeNames: ['All'],
    });
    return (await sqs.send(command)).Messages ?? [];
  };
  return {
    queue: sqsQueue(sqs, url),
    name: await arnOf(url),
    receive: async (max) =>
      (await receive(url, max)).map((m) => ({
        body: m.Body as string,
        receiptHandle: m.ReceiptHandle as string,
        receiveCount: Number(m.Attributes?.ApproximateReceiveCount),
        sentAtMs: Number(m.Attributes?.SentTimestamp),
      })),
    delete: async (ReceiptHandle) => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    },
    receiveDead: async () =>
      (await receive(dead, 10)).map((m) => ({
        body: m.Body as string,
        sentAtMs: Number(m.Attributes?.SentTimestamp),
        movedFrom: m.Attributes?.DeadLetterQueueSourceArn,
      })),
    sendDead: (MessageBody) => sqs.send(new SendMessageCommand({ QueueUrl: dead, MessageBody })),
    elapse: sleep,
  };
}
