/** Metrics, log lines and Events of a run. */
import { objectiveMs } from '#shared/contract/metrics.ts';
import { serviceReference } from '#shared/controllers/slices/outcome.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { GivenUp } from '#shared/workqueue/finish.ts';
import type { SyncDeps } from '../state/deps.ts';
import type { RunResult } from '../state/run-result.ts';

interface Times {
  readonly latencyFromMs: number | undefined;
  readonly beganMs: number;
  readonly endedMs: number;
}

export function reportMetrics(
  deps: SyncDeps,
  key: ServiceKey,
  { outcomes, server, imported }: RunResult,
  { latencyFromMs, beganMs, endedMs }: Times,
): void {
  const { cluster } = key;
  const all = [...outcomes.values()];
  const slices = (server?.writes.EndpointSlice ?? 0) + (imported?.slices ?? 0);
  const wrote = (server?.writes.Endpoints ?? 0) + slices;
  deps.metrics.put('SyncDuration', endedMs - beganMs, { cluster });
  if (server?.writes.Endpoints) deps.metrics.put('WritesEndpoints', server.writes.Endpoints, { cluster });
  if (slices > 0) deps.metrics.put('WritesSlices', slices, { cluster });
  if (imported && imported.slices > 0) deps.metrics.put('WritesImports', imported.slices, { cluster });
  const waiting = all.filter((o) => o.kind === 'requeued').length;
  const failed = all.filter((o) => o.kind === 'failed');
  if (waiting > 0) deps.metrics.put('SyncsWaiting', waiting, { cluster });
  if (failed.length > 0) deps.metrics.put('SyncsFailed', failed.length, { cluster });
  if (waiting + failed.length === 0) {
    deps.metrics.put(wrote > 0 ? 'SyncsWritten' : 'SyncsUnchanged', 1, { cluster });
    if (wrote === 0 || latencyFromMs === undefined) return;
    if (imported) deps.metrics.put('ImportLatency', Math.max(0, endedMs - latencyFromMs), { cluster });
    else reportLatency(deps, cluster, Math.max(0, endedMs - latencyFromMs));
  }
  for (const { error } of failed) deps.log.warn('sync failed', { ...key, error });
}

function reportLatency({ metrics }: SyncDeps, cluster: string, latencyMs: number): void {
  metrics.put('SyncLatency', latencyMs, { cluster });
  metrics.put('SyncsDue', 1, { cluster });
  metrics.put('SyncsOnTime', latencyMs <= objectiveMs ? 1 : 0, { cluster });
}

/** For people: metric, log line, and an Event of the Service. */
export async function reportGivenUp(
  deps: SyncDeps,
  key: ServiceKey,
  { api, inputs }: RunResult,
  gaveUp: readonly GivenUp[],
): Promise<void> {
  for (const { part, error } of gaveUp) {
    deps.metrics.put('Parked', 1, { cluster: key.cluster });
    deps.log.error('work parked', { ...key, part, error });
    if (!api || !inputs?.service) continue;
    await deps.events.record(api, {
      type: 'Warning',
      reason: 'RetryBudgetExceeded',
      message: `${part === 'endpoints' ? 'Endpoints' : 'EndpointSlices'} given up until the next change, after 16 tries: ${error}`,
      regarding: serviceReference(inputs.service),
      component: part === 'endpoints' ? 'endpoint-controller' : 'endpoint-slice-controller',
    });
  }
}
