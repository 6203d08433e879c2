import { counted } from '#infra/cli/counted.ts';
import type { MetricsStore } from '#infra/console/metrics-store.ts';

/** Returns a line with the counts of the run so far. */
export function summary(store: MetricsStore): string {
  const count = (metric: Parameters<MetricsStore['total']>[0]) => Math.round(store.total(metric));
  const queued = (suffix: RegExp) => Math.round(store.total('ApproximateNumberOfMessagesVisible', ({ QueueName = '' }) => suffix.test(QueueName)));
  const ms = (q: number) => {
    const value = store.quantile('SyncLatency', q);
    return value === undefined ? '-' : `${Math.round(value)} ms`;
  };
  const put = [
    counted(count('EventsIn'), 'event'),
    `${counted(count('SyncsWritten') + count('SyncsUnchanged') + count('SyncsFailed'), 'run')}, ${count('SyncsFailed')} failed`,
    `${counted(count('WritesEndpoints'), 'write')} of Endpoints, ${count('WritesSlices')} of slices`,
    `latency p50 ${ms(0.5)}, p99 ${ms(0.99)}`,
    `${counted(queued(/-(events|syncs)$/), 'message')} queued`,
  ];
  const aside = [
    [queued(/-dead$/), 'dead letter'],
    [queued(/-parked$/), 'parked message'],
    [queued(/-quarantine$/), 'quarantined message'],
    [count('ShadowDifferences'), 'difference'],
  ] as const;
  return [...put, ...aside.filter(([n]) => n > 0).map(([n, what]) => counted(n, what))].join(' · ');
}
