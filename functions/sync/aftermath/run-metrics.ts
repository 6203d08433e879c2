/** Metrics, log lines and Events of a run. */
import { objectiveMs } from '#shared/contract/metrics.ts';
import { serviceReference } from '#shared/controllers/slices/outcome.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { GivenUp } from '#shared/workqueue/finish.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import type { RunResult } from '../state/run-result.ts';

interface Times {
  readonly latencyFromMs: number | undefined;
  readonly beganMs: number;
  readonly endedMs: number;
}

export function reportMetrics(deps: SyncDeps, key: ServiceKey, result: RunResult, times: Times): void {
  const { cluster } = key;
  deps.metrics.put('SyncDuration', times.endedMs - times.beganMs, { cluster });
  const writes = reportWrites(deps, cluster, result);
  if (!reportOutcomes(deps, key, [...result.outcomes.values()])) return;
  deps.metrics.put(writes > 0 ? 'SyncsWritten' : 'SyncsUnchanged', 1, { cluster });
  if (writes > 0) reportLatency(deps, cluster, result, times);
}

/** Returns the number of writes. */
function reportWrites({ metrics }: SyncDeps, cluster: string, { server, imported }: RunResult): number {
  const imports = imported?.slices ?? 0;
  const endpoints = server?.writes.Endpoints ?? 0;
  const slices = (server?.writes.EndpointSlice ?? 0) + imports;
  if (endpoints > 0) metrics.put('WritesEndpoints', endpoints, { cluster });
  if (slices > 0) metrics.put('WritesSlices', slices, { cluster });
  if (imports > 0) metrics.put('WritesImports', imports, { cluster });
  return endpoints + slices;
}

/** Returns true if every part is done. */
function reportOutcomes({ metrics, log }: SyncDeps, key: ServiceKey, outcomes: readonly Outcome[]): boolean {
  const { cluster } = key;
  const waiting = outcomes.filter((o) => o.kind === 'requeued').length;
  const failed = outcomes.filter((o) => o.kind === 'failed');
  if (waiting > 0) metrics.put('SyncsWaiting', waiting, { cluster });
  if (failed.length > 0) metrics.put('SyncsFailed', failed.length, { cluster });
  for (const { error } of failed) log.warn('sync failed', { ...key, error });
  return waiting + failed.length === 0;
}

function reportLatency(
  { metrics }: SyncDeps,
  cluster: string,
  { imported }: RunResult,
  { latencyFromMs, endedMs }: Times,
): void {
  if (latencyFromMs === undefined) return;
  const latencyMs = Math.max(0, endedMs - latencyFromMs);
  if (imported) {
    metrics.put('ImportLatency', latencyMs, { cluster });
    return;
  }
  metrics.put('SyncLatency', latencyMs, { cluster });
  metrics.put('SyncsDue', 1, { cluster });
  metrics.put('SyncsLate', latencyMs > objectiveMs ? 1 : 0, { cluster });
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
