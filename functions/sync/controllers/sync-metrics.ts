/**
 * The metrics of upstream's EndpointSlice controller (contract/upstream-metrics.ts), observed where upstream
 * observes them.
 */
import type { AddressTypePlan, SlicesPlan } from '#shared/controllers/slices/plan.ts';
import type { GaugeRecord } from '#shared/store/outputs/service-counts.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import type { Run } from '../state/run.ts';

type Observer = Pick<Run, 'deps' | 'key'>;

/** ME-1, ME-2: once for each address type of each decision that is acted on, also when 0. */
export function observeReconcile({ deps, key: { cluster } }: Observer, plan: SlicesPlan): void {
  for (const { endpointsAdded, endpointsRemoved } of plan.addressTypes) {
    deps.metrics.put('endpoint_slice_controller_endpoints_added_per_sync', endpointsAdded, { cluster });
    deps.metrics.put('endpoint_slice_controller_endpoints_removed_per_sync', endpointsRemoved, { cluster });
  }
}

/** ME-6: a write that the API server has accepted. */
export function observeChange(
  { deps, key: { cluster } }: Observer,
  operation: 'create' | 'update' | 'delete',
): void {
  deps.metrics.put('endpoint_slice_controller_changes', 1, { cluster, operation });
}

/** ME-7: counts an address type whose writes all succeeded, also without any write. */
export function observeFinalize(
  { deps, key: { cluster } }: Observer,
  plan: SlicesPlan,
  { slicesChanged }: AddressTypePlan,
): void {
  const { topology, trafficDistribution } = plan;
  deps.metrics.put('endpoint_slice_controller_endpointslices_changed_per_sync', slicesChanged, {
    cluster,
    topology,
    ...(trafficDistribution !== '' && { traffic_distribution: trafficDistribution }),
  });
}

/** ME-8. A requeued run does not count as a sync. */
export function observeSync(
  { deps, key: { cluster } }: Observer,
  outcome: Outcome | { readonly kind: 'stale' },
): void {
  const result = ({ ok: 'success', failed: 'error', stale: 'stale', requeued: undefined } as const)[
    outcome.kind
  ];
  if (result) deps.metrics.put('endpoint_slice_controller_syncs', 1, { cluster, result });
}

/**
 * For the gauges ME-3..5 and ME-9. A service that is not reconciled any more keeps its slices, and what was
 * counted of them (ES-4).
 */
export function gaugesAfter({ inputs, counts }: Run, plan: SlicesPlan): GaugeRecord | undefined {
  if (!inputs.service) return undefined;
  if (plan.addressTypes.length === 0) return counts.gauges;
  const sum = (countOf: (t: AddressTypePlan) => number): number =>
    plan.addressTypes.reduce((total, t) => total + countOf(t), 0);
  return {
    endpointsDesired: sum((t) => t.endpointsDesired),
    slicesActual: sum((t) => t.slicesActual),
    slicesDesired: sum((t) => t.slicesDesired),
    trafficDistribution: plan.trafficDistribution,
  };
}
