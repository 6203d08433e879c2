/**
 * The local stand-in for Lambda's SQS event source mapping: polls a queue, calls the handler, deletes what
 * succeeded.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Log } from '#shared/telemetry/port.ts';
import { type QueueCall, queueCalls } from '../queues/queue-calls.ts';
import { failedMessages } from './batch-response.ts';

/** The response is untyped, because batch-response.ts checks it as Lambda does. */
export type SqsFunction = (event: SQSEvent, context: Context) => Promise<unknown>;

export interface EventSourceMapping {
  /** Receives no further messages. Resolves when the invocations under way have ended. */
  stop(): Promise<void>;
}

export interface MappingOptions {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly functionName: string;
  readonly handler: SqsFunction;
  readonly timeoutMs: number;
  /**
   * The queue's visibility timeout. It is renewed while the handler runs, so it may be shorter than the
   * function's timeout.
   */
  readonly visibilitySeconds: number;
  readonly maximumConcurrency: number;
  readonly batchSize?: number;
  readonly log: Log;
  readonly onInvocation?: (invocation: { readonly ms: number; readonly failed: boolean }) => void;
}

/**
 * Behaves like AWS. A message that is not deleted returns when its visibility timeout ends. A handler that
 * throws or times out fails its whole batch. Reported item failures fail these items. There are two
 * differences from AWS:
 *
 * - A handler that timed out is not killed, because other invocations run in the same process. Its result is
 *   ignored.
 * - The visibility timeout may be shorter than the function's timeout, so a killed process's messages return
 *   soon. The mapping renews it, so a busy machine does not handle a message twice at once.
 */
export function startEventSourceMapping(options: MappingOptions): EventSourceMapping {
  const { queueUrl, batchSize = 10, maximumConcurrency, log } = options;
  const call = queueCalls(queueUrl);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function poll(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      if (running.size >= maximumConcurrency) {
        await Promise.race(running);
        continue;
      }
      try {
        const messages = await receive();
        failures = 0;
        if (messages.length === 0) continue;
        const invocation = invokeAndDelete(messages).finally(() => running.delete(invocation));
        running.add(invocation);
      } catch (error) {
        if (stopping.signal.aborted) return;
        // The queues' process may be restarting.
        if (++failures === 5) log.warn('queue cannot be polled', { queueUrl, error });
        await sleep(Math.min(1_000, 50 * 2 ** failures));
      }
    }
  }

  async function receive(): Promise<Message[]> {
    const input = {
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: 20,
      MessageSystemAttributeNames: ['All'],
    };
    return (
      (await call<{ readonly Messages?: Message[] }>('ReceiveMessage', input, stopping.signal)).Messages ?? []
    );
  }

  async function invokeAndDelete(messages: readonly Message[]): Promise<void> {
    const start = performance.now();
    const handled = keepInvisible(messages, call, options);
    const failed = await invoke(messages, options).finally(handled);
    options.onInvocation?.({ ms: performance.now() - start, failed: failed === 'all' });
    const done = messages.filter((m) => failed !== 'all' && !failed.has(m.MessageId as string));
    if (done.length === 0) return;
    const Entries = done.map((m, i) => ({ Id: String(i), ReceiptHandle: m.ReceiptHandle }));
    try {
      await call('DeleteMessageBatch', { QueueUrl: queueUrl, Entries });
    } catch (error) {
      log.warn('messages cannot be deleted and will be handled again', {
        queueUrl,
        messages: done.length,
        error,
      });
    }
  }

  const polling = poll();
  return {
    async stop() {
      stopping.abort();
      await polling;
      await Promise.all(running);
    },
  };
}

/** Renews the visibility timeout until the returned function is called. */
function keepInvisible(
  messages: readonly Message[],
  call: QueueCall,
  { queueUrl, visibilitySeconds, log }: MappingOptions,
): () => void {
  const Entries = messages.map((m, i) => ({
    Id: String(i),
    ReceiptHandle: m.ReceiptHandle,
    VisibilityTimeout: visibilitySeconds,
  }));
  const timer = setInterval(() => {
    call('ChangeMessageVisibilityBatch', { QueueUrl: queueUrl, Entries }).catch((error: unknown) => {
      log.warn('messages may be handled twice at once', { queueUrl, messages: messages.length, error });
    });
  }, visibilitySeconds * 500);
  timer.unref();
  return () => clearInterval(timer);
}

/** Returns the ids of the messages that failed. */
async function invoke(
  messages: readonly Message[],
  options: MappingOptions,
): Promise<ReadonlySet<string> | 'all'> {
  const { handler, functionName, timeoutMs, queueArn, log } = options;
  const requestId = randomUUID();
  const timer = new AbortController();
  const timeout = sleep(timeoutMs, 'timeout' as const, { signal: timer.signal, ref: false });
  try {
    const event = { Records: messages.map((m) => sqsRecord(m, queueArn)) };
    const result = await Promise.race([
      handler(event, lambdaContext(functionName, requestId, Date.now() + timeoutMs)),
      timeout,
    ]);
    if (result === 'timeout') {
      log.error('function timed out', { functionName, requestId, timeoutMs, messages: messages.length });
      return 'all';
    }
    return failedMessages(
      result,
      messages.map((m) => m.MessageId as string),
    );
  } catch (error) {
    log.error('function failed', { functionName, requestId, messages: messages.length, error });
    return 'all';
  } finally {
    timer.abort();
    timeout.catch(() => {});
  }
}

function sqsRecord(m: Message, eventSourceARN: string): SQSRecord {
  return {
    messageId: m.MessageId as string,
    receiptHandle: m.ReceiptHandle as string,
    body: m.Body as string,
    attributes: m.Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: {},
    md5OfBody: m.MD5OfBody as string,
    eventSource: 'aws:sqs',
    eventSourceARN,
    awsRegion: eventSourceARN.split(':')[3] as string,
  };
}

/** Returns the part of Lambda's context that the handlers use. */
export function lambdaContext(functionName: string, awsRequestId: string, deadline: number): Context {
  return {
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '1024',
    awsRequestId,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => deadline - Date.now(),
    done() {},
    fail() {},
    succeed() {},
  };
}
