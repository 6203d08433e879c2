/**
 * The process of the queues: fauxqs serves the SQS protocol, on disk. It also publishes the depth and age of
 * each queue, as AWS does.
 */
import { awsMetrics } from '../lambda/aws-metrics.ts';
import { childEnv, onStop, portOf, report, writeLine } from '../processes/child-process.ts';
import { startQueues } from './queues.ts';

const queues = await startQueues(portOf(0), process.env[childEnv.dataDir] as string);
report({ ports: [queues.port] });

const metrics = awsMetrics('AWS/SQS', writeLine, Date.now);
const timer = setInterval(() => {
  for (const { name, visible, notVisible, delayed, oldestSentAt } of queues.depths()) {
    const dimensions = { QueueName: name };
    metrics.put(dimensions, 'ApproximateNumberOfMessagesVisible', visible);
    metrics.put(dimensions, 'ApproximateNumberOfMessagesNotVisible', notVisible);
    metrics.put(dimensions, 'ApproximateNumberOfMessagesDelayed', delayed);
    metrics.put(
      dimensions,
      'ApproximateAgeOfOldestMessage',
      oldestSentAt === undefined ? 0 : (Date.now() - oldestSentAt) / 1000,
    );
  }
  metrics.flush();
}, 2_000);

onStop(() => {
  clearInterval(timer);
  return queues.stop();
});
