/**
 * The metrics of upstream's EndpointSlice controller under upstream's names (reference/parity.md ME-1..ME-9),
 * so existing dashboards keep working. The endpoints controller lacks metrics of its own. Dimensions are
 * `cluster` and the metric's labels. A label without a value is left out, because CloudWatch does not take
 * empty values and Prometheus treats both alike.
 */
export interface UpstreamMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, for the Prometheus page only, because EMF keeps every value. */
  readonly buckets?: readonly number[];
  readonly help: string;
}

const doubling = Array.from({ length: 15 }, (_, i) => 2 ** (i + 1));
const prometheusDefault = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const upstreamMetrics = {
  endpoint_slice_controller_endpoints_added_per_sync: {
    type: 'histogram',
    labels: [],
    buckets: doubling,
    help: 'endpoints added, for each address type of each sync',
  },
  endpoint_slice_controller_endpoints_removed_per_sync: {
    type: 'histogram',
    labels: [],
    buckets: doubling,
    help: 'endpoints removed, for each address type of each sync',
  },
  endpoint_slice_controller_endpoints_desired: {
    type: 'gauge',
    labels: [],
    help: 'endpoints that all services should have, both address types',
  },
  endpoint_slice_controller_num_endpoint_slices: {
    type: 'gauge',
    labels: [],
    help: 'slices of all services, both address types',
  },
  endpoint_slice_controller_desired_endpoint_slices: {
    type: 'gauge',
    labels: [],
    help: 'slices that there would be if all were packed as well as possible, both address types',
  },
  endpoint_slice_controller_changes: {
    type: 'counter',
    labels: ['operation'],
    help: 'slices written: create, update or delete',
  },
  endpoint_slice_controller_endpointslices_changed_per_sync: {
    type: 'histogram',
    labels: ['topology', 'traffic_distribution'],
    buckets: prometheusDefault,
    help: 'slices written, for each address type of each sync that succeeded',
  },
  endpoint_slice_controller_syncs: {
    type: 'counter',
    labels: ['result'],
    help: 'syncs by result: success, error, or stale (a first write met something newer than what is saved, and was decided again from a live read)',
  },
  endpoint_slice_controller_services_count_by_traffic_distribution: {
    type: 'gauge',
    labels: ['traffic_distribution'],
    help: 'services by the traffic distribution that applies to them',
  },
} as const satisfies { readonly [name: string]: UpstreamMetric };

export type UpstreamMetricName = keyof typeof upstreamMetrics;

/** The values of trafficDistribution (TD-1), which ME-9 counts. */
export const trafficDistributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'] as const;
