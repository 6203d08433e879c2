import { counted } from '#infra/cli/terminal/counted.ts';
import type { MetricsStore } from '#infra/console/metrics-store.ts';

/** Returns a sentence about the run so far. */
export function summary(store: MetricsStore): string {
  const count = (metric: Parameters<MetricsStore['total']>[0]) => Math.round(store.total(metric));
  const queued = (suffix: RegExp) =>
    Math.round(
      store.total('ApproximateNumberOfMessagesVisible', ({ QueueName = '' }) => suffix.test(QueueName)),
    );
  const [p50, p99] = [0.5, 0.99].map((q) => store.quantile('SyncLatency', q));
  const runs = counted(count('SyncsWritten') + count('SyncsUnchanged') + count('SyncsFailed'), 'run');
  const writes = counted(count('WritesEndpoints') + count('WritesSlices'), 'write');
  const waiting = queued(/-(events|syncs)$/);
  const parts = [
    `${counted(count('EventsIn'), 'event')} led to ${runs} (${count('SyncsFailed')} failed) and ${writes}`,
    ...(p50 === undefined || p99 === undefined
      ? []
      : [`a change took ${Math.round(p50)} ms at p50, ${Math.round(p99)} ms at p99`]),
    `${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'} in the queues`,
  ];
  const problems = [
    [queued(/-dead$/), 'dead letter'],
    [queued(/-parked$/), 'parked message'],
    [queued(/-quarantine$/), 'quarantined message'],
    [count('ShadowDifferences'), 'difference'],
  ] as const;
  return [...parts, ...problems.filter(([n]) => n > 0).map(([n, what]) => counted(n, what))].join('; ');
}
