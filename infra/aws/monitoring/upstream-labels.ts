import { trafficDistributions, type UpstreamMetricName } from '#shared/contract/upstream-metrics.ts';

/**
 * Every series of a metric besides `cluster`. CloudWatch does not sum over labels, so a chart draws each
 * series. Hints and traffic distribution never apply together (TD-1).
 */
export const upstreamLabels: {
  readonly [N in UpstreamMetricName]: readonly { readonly [label: string]: string }[];
} = {
  endpoint_slice_controller_endpoints_added_per_sync: [{}],
  endpoint_slice_controller_endpoints_removed_per_sync: [{}],
  endpoint_slice_controller_endpoints_desired: [{}],
  endpoint_slice_controller_num_endpoint_slices: [{}],
  endpoint_slice_controller_desired_endpoint_slices: [{}],
  endpoint_slice_controller_changes: ['create', 'update', 'delete'].map((operation) => ({ operation })),
  endpoint_slice_controller_endpointslices_changed_per_sync: [
    { topology: 'Disabled' },
    { topology: 'Auto' },
    ...trafficDistributions.map((traffic_distribution) => ({ topology: 'Disabled', traffic_distribution })),
  ],
  endpoint_slice_controller_syncs: ['success', 'error', 'stale'].map((result) => ({ result })),
  endpoint_slice_controller_services_count_by_traffic_distribution: trafficDistributions.map(
    (traffic_distribution) => ({ traffic_distribution }),
  ),
};
