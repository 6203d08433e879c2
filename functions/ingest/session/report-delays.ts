import type { EndpointDelayReport } from '#shared/contract/endpoint-delay.ts';
import type { IngestDeps } from '../batch/ingest-deps.ts';

/** Above this number of delays in a heartbeat a share of each bucket stands for all. */
const maxValues = 1_000;

/** Publishes the delays that a relay has measured, and logs its slowest Services. */
export function reportDelays(
  { metrics, log }: Pick<IngestDeps, 'metrics' | 'log'>,
  cluster: string,
  { counts, slowest }: EndpointDelayReport,
): void {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const share = Math.min(1, maxValues / all);
  for (const { change, atMostMs, count } of counts) {
    for (let values = Math.ceil(count * share); values > 0; values--) {
      if (change === 'ready') metrics.put('EndpointReadyDelay', atMostMs, { cluster });
      else metrics.put('EndpointRemovalDelay', atMostMs, { cluster });
    }
  }
  for (const { namespace, service, change, writer, ms } of slowest)
    log.info('slow endpoint', { cluster, namespace, service, change, writer, ms });
}
