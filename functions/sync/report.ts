/** What is told of a run: metrics, log lines, and an Event for what is given up. */
import type { ClusterApi } from '#shared/cluster/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { objectiveMs } from '#shared/contract/metrics.ts';
import { serviceReference } from '#shared/slices/outcome.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { WorkPart } from '#shared/workqueue/rules/item.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from './deps.ts';
import type { Inputs, Known } from './load.ts';
import type { Saves } from './server-state.ts';

export interface RunResult {
  readonly meta: ClusterRecord | undefined;
  readonly outcomes: ReadonlyMap<WorkPart, Outcome>;
  readonly saves: Saves | undefined;
  readonly api: ClusterApi | undefined;
  readonly inputs: Inputs | undefined;
  readonly triggers: string | null | undefined;
  /** If it went well: for the next run under the same lease. */
  readonly known?: Known | undefined;
  /** A generation came in while it ran. */
  readonly isBehind?: boolean;
}

/** `due`: when the sync was due (SyncMessage.seen), ms since the epoch. */
export function report(
  deps: SyncDeps,
  key: ServiceKey,
  due: number | undefined,
  { outcomes, saves }: RunResult,
  parked: readonly { readonly part: WorkPart; readonly error: string }[],
  durationMs: number,
): void {
  const { cluster } = key;
  const all = [...outcomes.values()];
  const wrote = (saves?.writes.Endpoints ?? 0) + (saves?.writes.EndpointSlice ?? 0);
  deps.metrics.put('SyncDuration', durationMs, { cluster });
  if (saves?.writes.Endpoints) deps.metrics.put('WritesEndpoints', saves.writes.Endpoints, { cluster });
  if (saves?.writes.EndpointSlice) deps.metrics.put('WritesSlices', saves.writes.EndpointSlice, { cluster });
  const waiting = all.filter((o) => o.kind === 'not-now').length;
  const failed = all.filter((o) => o.kind === 'failed');
  if (waiting > 0) deps.metrics.put('SyncsWaiting', waiting, { cluster });
  if (failed.length > 0) deps.metrics.put('SyncsFailed', failed.length, { cluster });
  if (waiting + failed.length === 0) {
    deps.metrics.put(wrote > 0 ? 'SyncsWritten' : 'SyncsUnchanged', 1, { cluster });
    if (wrote > 0 && due !== undefined) reportLatency(deps, cluster, Math.max(0, deps.now() - due));
  }
  for (const f of failed) deps.log.warn('sync failed', { ...key, error: f.kind === 'failed' ? f.error : '' });
  for (const { part, error } of parked) {
    deps.metrics.put('Parked', 1, { cluster });
    deps.log.error('work parked', { ...key, part, error });
  }
}

function reportLatency({ metrics }: SyncDeps, cluster: string, latencyMs: number): void {
  metrics.put('SyncLatency', latencyMs, { cluster });
  metrics.put('SyncsDue', 1, { cluster });
  metrics.put('SyncsOnTime', latencyMs <= objectiveMs ? 1 : 0, { cluster });
}

export async function tellParked(
  deps: SyncDeps,
  { api, inputs }: RunResult,
  parked: readonly { readonly part: WorkPart; readonly error: string }[],
): Promise<void> {
  if (!api || !inputs?.service) return;
  for (const { part, error } of parked) {
    await deps.events.record(api, {
      type: 'Warning',
      reason: 'RetryBudgetExceeded',
      message: `${part === 'ep' ? 'Endpoints' : 'EndpointSlices'} given up until the next change, after 16 tries: ${error}`,
      regarding: serviceReference(inputs.service),
      component: part === 'ep' ? 'endpoint-controller' : 'endpoint-slice-controller',
    });
  }
}
