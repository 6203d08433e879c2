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
    `${count('EventsIn')} events`,
    `${count('SyncsWritten') + count('SyncsUnchanged') + count('SyncsFailed')} runs, ${count('SyncsFailed')} failed`,
    `${count('WritesEndpoints')} writes of Endpoints, ${count('WritesSlices')} of slices`,
    `latency p50 ${ms(0.5)}, p99 ${ms(0.99)}`,
    `${queued(/-(events|syncs)$/)} messages queued`,
  ];
  const aside = [
    ['dead letters', queued(/-dead$/)],
    ['parked', queued(/-parked$/)],
    ['quarantined', queued(/-quarantine$/)],
    ['differences', count('ShadowDifferences')],
  ] as const;
  return [...put, ...aside.filter(([, n]) => n > 0).map(([what, n]) => `${n} ${what}`)].join(' · ');
}
