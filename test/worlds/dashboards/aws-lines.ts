/** Lines for what AWS itself measures: queues, functions and the table. */
import type { HubWorld } from '#test/support/hub-world.ts';
import type { DayMetrics } from './day-metrics.ts';

/** Numbers of invocations by function, and units of the table, of a step over all clusters. */
export type Load = Map<string, number>;

const line = (atMs: number, space: string, dimensions: object, values: object): string =>
  JSON.stringify({
    _aws: {
      Timestamp: atMs,
      CloudWatchMetrics: [
        {
          Namespace: space,
          Dimensions: [Object.keys(dimensions)],
          Metrics: Object.keys(values).map((Name) => ({ Name })),
        },
      ],
    },
    ...dimensions,
    ...values,
  });

export function addQueues(metrics: DayMetrics, world: HubWorld, id: string): void {
  for (const queue of ['events', 'syncs'] as const) {
    const waiting = world.queues[queue].waiting();
    const inFlight = waiting.filter((message) => message.inFlight);
    const visible = waiting.filter((message) => !message.inFlight && message.visibleAt <= world.now);
    const sinceMs = Math.min(world.now, ...[...inFlight, ...visible].map(({ sentAtMs }) => sentAtMs));
    metrics.add(
      line(
        world.now,
        'AWS/SQS',
        { QueueName: `Fleet-${id}-${queue}` },
        {
          ApproximateNumberOfMessagesVisible: visible.length,
          ApproximateNumberOfMessagesDelayed: waiting.length - visible.length - inFlight.length,
          ApproximateNumberOfMessagesNotVisible: inFlight.length,
          ApproximateAgeOfOldestMessage: (world.now - sinceMs) / 1000,
        },
      ),
    );
  }
  for (const queue of ['parked', 'quarantine'] as const) {
    const ApproximateNumberOfMessagesVisible = world.queues[queue].waiting().length;
    metrics.add(line(world.now, 'AWS/SQS', { QueueName: queue }, { ApproximateNumberOfMessagesVisible }));
  }
}

export function addLoad(metrics: DayMetrics, atMs: number, load: Load): void {
  const of = (name: string): number => load.get(name) ?? 0;
  for (const role of ['ingest', 'sync', 'sweep'])
    metrics.add(
      line(
        atMs,
        'AWS/Lambda',
        { FunctionName: role },
        {
          Invocations: of(role),
          Errors: 0,
          Throttles: 0,
          ConcurrentExecutions: Math.ceil(of(role) / 20),
        },
      ),
    );
  const throttles = { ReadThrottleEvents: 0, WriteThrottleEvents: 0 };
  const units = { ConsumedReadCapacityUnits: of('read'), ConsumedWriteCapacityUnits: of('written') };
  metrics.add(line(atMs, 'AWS/DynamoDB', { TableName: 'table' }, { ...units, ...throttles }));
}
