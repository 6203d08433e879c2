/** Upstream's gauges (ME-3..5, ME-9), summed over the services of a cluster. */
import { trafficDistributions } from '#shared/contract/upstream-metrics.ts';
import { totalGauges } from '#shared/store/outputs/service-counts.ts';
import type { SweepDeps } from './sweep-deps.ts';

export async function publishGauges(
  deps: Pick<SweepDeps, 'table' | 'metrics'>,
  cluster: string,
): Promise<void> {
  const totals = await totalGauges(deps.table, cluster);
  deps.metrics.put('endpoint_slice_controller_endpoints_desired', totals.endpointsDesired, { cluster });
  deps.metrics.put('endpoint_slice_controller_num_endpoint_slices', totals.slicesActual, { cluster });
  deps.metrics.put('endpoint_slice_controller_desired_endpoint_slices', totals.slicesDesired, { cluster });
  for (const value of trafficDistributions) {
    deps.metrics.put(
      'endpoint_slice_controller_services_count_by_traffic_distribution',
      totals.services[value] ?? 0,
      {
        cluster,
        traffic_distribution: value,
      },
    );
  }
}
