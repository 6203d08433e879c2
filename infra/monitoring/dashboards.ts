/**
 * The dashboards as data. CloudWatch draws them in a deployed hub (monitoring.ts), the console draws the same rows.
 * `fleet` shows metrics without dimension; `cluster` those of one cluster, chosen by a variable, from the metrics with a cluster dimension.
 */
import { type ClusterMetrics, type MetricName, objectiveMs, perCluster, type Unit } from '#shared/contract/metrics.ts';
import type { UpstreamMetricName } from '#shared/contract/upstream-metrics.ts';
import { clustersetRow } from './clusterset-row.ts';
import type { FunctionRole, QueueRole, Series, Statistic } from './series.ts';
import { upstreamLabels } from './upstream-labels.ts';

export interface Dashboard {
  readonly id: 'fleet' | 'cluster';
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Row {
  readonly title: string;
  readonly widgets: readonly Widget[];
}

export interface Widget {
  readonly title: string;
  /** `numbers` shows each series' newest value, large. */
  readonly kind: 'lines' | 'numbers';
  readonly unit: Unit;
  readonly series: readonly (Series & { readonly label: string })[];
  /** Threshold drawn across the chart: a value beyond it needs a look. */
  readonly limit?: { readonly value: number; readonly label: string };
}

type Drawn = Widget['series'][number];
const of = (metric: MetricName, statistic: Statistic, label: string): Drawn => ({ metric, statistic, label });
/** One series for each value of the label, named by the value. */
const upstream = (name: UpstreamMetricName, statistic: Statistic, label?: string): Drawn[] =>
  upstreamLabels[name].map((labels) => ({ upstream: name, labels, statistic, label: label ?? Object.values(labels).at(-1) ?? name }));
const onQueue = (queue: QueueRole, name: string, label: string): Drawn => ({ aws: 'AWS/SQS', queue, name, statistic: 'Maximum', label });
const onFunctions = (name: string, statistic: Statistic, ...roles: readonly FunctionRole[]): Drawn[] =>
  roles.map((role) => ({ aws: 'AWS/Lambda', function: role, name, statistic, label: role }));
/** DynamoDB counts the table and its index apart. */
const onTable = (name: string, label: string): Drawn[] => [
  { aws: 'AWS/DynamoDB', name, statistic: 'Sum', label },
  { aws: 'AWS/DynamoDB', index: true, name, statistic: 'Sum', label: `index ${label}` },
];

const visible = 'ApproximateNumberOfMessagesVisible';
const lines = (title: string, unit: Unit, series: readonly Drawn[], limit?: Widget['limit']): Widget => ({
  title,
  kind: 'lines',
  unit,
  series,
  ...(limit && { limit }),
});
const numbers = (title: string, unit: Unit, series: readonly Drawn[]): Widget => ({ title, kind: 'numbers', unit, series });

const objective = { value: objectiveMs, label: 'objective' };

export const fleetDashboard: Dashboard = {
  id: 'fleet',
  title: 'Fleet',
  rows: [
    {
      title: 'Health',
      widgets: [
        numbers('Oldest overdue work', 'Seconds', [of('OldestDirtyAge', 'Maximum', 'any cluster')]),
        numbers('Time since the last heartbeat', 'Seconds', [of('RelayHeartbeatAge', 'Maximum', 'longest')]),
        numbers('Blocked writes', 'Count', [
          of('CircuitOpen', 'Maximum', 'circuit open'),
          of('GateClosed', 'Maximum', 'first lists missing'),
          of('WriterConflict', 'Maximum', 'two writers'),
        ]),
        numbers('Days until credentials end', 'Count', [of('CredentialExpires', 'Minimum', 'shortest')]),
        numbers('Messages for people', 'Count', [onQueue('parked', visible, 'parked'), onQueue('quarantine', visible, 'quarantine')]),
        lines('Blocked clusters', 'Count', [
          of('SilentRelays', 'Sum', 'relay silent'),
          of('OpenCircuits', 'Sum', 'circuit open'),
          of('GateClosed', 'Sum', 'first lists missing'),
          of('Sweeps', 'Sum', 'runs of sweep'),
        ]),
      ],
    },
    {
      title: 'Latency',
      widgets: [
        lines('From due to written', 'Milliseconds', [of('SyncLatency', 'p50', 'p50'), of('SyncLatency', 'p99', 'p99')], objective),
        lines('Syncs within the objective', 'Count', [of('SyncsDue', 'Sum', 'due'), of('SyncsOnTime', 'Sum', 'on time')]),
        lines('From observed by the relay to stored', 'Milliseconds', [of('IngestLatency', 'p50', 'p50'), of('IngestLatency', 'p99', 'p99')]),
        lines('From due wake-up to start', 'Milliseconds', [of('QueueLatency', 'p50', 'p50'), of('QueueLatency', 'p99', 'p99')]),
        lines('Duration of runs and API calls', 'Milliseconds', [
          of('SyncDuration', 'p50', 'run p50'),
          of('SyncDuration', 'p99', 'run p99'),
          of('ApiLatency', 'p50', 'call p50'),
          of('ApiLatency', 'p99', 'call p99'),
        ]),
      ],
    },
    {
      title: 'Throughput',
      widgets: [
        lines('Events', 'Count', [of('EventsIn', 'Sum', 'objects'), of('PodsTooLarge', 'Sum', 'pods of a namespace too large')]),
        lines('Wake-ups', 'Count', [of('WakeUps', 'Sum', 'sent'), of('Bounced', 'Sum', 'met a lease'), of('SweepResends', 'Sum', 'by sweep')]),
        lines('Runs', 'Count', [
          of('SyncsWritten', 'Sum', 'written'),
          of('SyncsUnchanged', 'Sum', 'unchanged'),
          of('SyncsFailed', 'Sum', 'failed'),
          of('SyncsWaiting', 'Sum', 'requeued'),
          of('CallsUnserved', 'Sum', 'not served'),
          of('SyncsConflict', 'Sum', 'conflicts'),
        ]),
        lines('Writes', 'Count', [of('WritesEndpoints', 'Sum', 'Endpoints'), of('WritesSlices', 'Sum', 'EndpointSlices')]),
        lines('Services that opt in', 'Count', [of('HandOversWaiting', 'Sum', 'waiting hand-overs'), of('OptInHeld', 'Sum', 'invalid annotations')]),
      ],
    },
    {
      title: 'Correctness',
      widgets: [
        lines('Shadow differences', 'Count', [of('ShadowDifferences', 'Maximum', 'services')]),
        lines('Services without a writer', 'Count', [of('ServicesWithoutWriter', 'Maximum', 'services')]),
        lines('Differences between snapshot and lists', 'Count', [
          of('Drift', 'Sum', 'objects'),
          of('IncarnationBumped', 'Sum', 'restored clusters'),
        ]),
        lines('Writes of other clients', 'Count', [
          of('ForeignWrites', 'Sum', 'foreign writes'),
          of('ServicesContested', 'Sum', 'contested services'),
          of('GuardedRemovals', 'Sum', 'mass-removal guard'),
        ]),
        lines('Given up', 'Count', [
          of('Parked', 'Sum', 'parked'),
          of('Quarantined', 'Sum', 'quarantined'),
          of('HistoryLost', 'Sum', 'lost history records'),
        ]),
      ],
    },
    clustersetRow,
    {
      title: 'Metrics of kube-controller-manager',
      widgets: [
        lines('Endpoints of slices', 'Count', [
          ...upstream('endpoint_slice_controller_endpoints_added_per_sync', 'Sum', 'added'),
          ...upstream('endpoint_slice_controller_endpoints_removed_per_sync', 'Sum', 'removed'),
        ]),
        lines('Slice syncs', 'Count', upstream('endpoint_slice_controller_syncs', 'Sum')),
        lines('Slice changes', 'Count', upstream('endpoint_slice_controller_changes', 'Sum')),
        lines('Slices by topology', 'Count', upstream('endpoint_slice_controller_endpointslices_changed_per_sync', 'Sum')),
      ],
    },
    {
      title: 'Functions',
      widgets: [
        lines('Invocations', 'Count', onFunctions('Invocations', 'Sum', 'ingest', 'sync', 'sweep')),
        lines('Errors', 'Count', [...onFunctions('Errors', 'Sum', 'ingest', 'sync', 'sweep'), of('MessagesFailed', 'Sum', 'failed messages')]),
        lines('Throttles', 'Count', onFunctions('Throttles', 'Sum', 'ingest', 'sync', 'sweep')),
        lines('Duration, p99', 'Milliseconds', onFunctions('Duration', 'p99', 'ingest', 'sync', 'sweep')),
      ],
    },
    {
      title: 'Capacity',
      widgets: [
        lines('Table units', 'Count', [...onTable('ConsumedReadCapacityUnits', 'read'), ...onTable('ConsumedWriteCapacityUnits', 'written')]),
        lines('Table throttles', 'Count', [...onTable('ReadThrottleEvents', 'reads'), ...onTable('WriteThrottleEvents', 'writes')]),
        lines('Concurrent executions', 'Count', onFunctions('ConcurrentExecutions', 'Maximum', 'ingest', 'sync')),
      ],
    },
  ],
};

const queueWidget = (title: string, queue: 'events' | 'syncs'): Widget =>
  lines(title, 'Count', [
    onQueue(queue, visible, 'waiting'),
    onQueue(queue, 'ApproximateNumberOfMessagesDelayed', 'delayed'),
    onQueue(queue, 'ApproximateNumberOfMessagesNotVisible', 'in flight'),
  ]);

export const clusterDashboard: Dashboard = {
  id: 'cluster',
  title: 'Cluster',
  rows: [
    {
      title: 'Health',
      widgets: [
        numbers('Oldest overdue work', 'Seconds', [of('OldestDirtyAge', 'Maximum', 'overdue')]),
        numbers('Time since the last heartbeat', 'Seconds', [of('RelayHeartbeatAge', 'Maximum', 'silent')]),
        numbers('Blocked writes', 'Count', [
          of('CircuitOpen', 'Maximum', 'circuit open'),
          of('GateClosed', 'Maximum', 'first lists missing'),
          of('WriterConflict', 'Maximum', 'two writers'),
        ]),
      ],
    },
    {
      title: 'Latency and load',
      widgets: [
        lines('From due to written', 'Milliseconds', [of('SyncLatency', 'p50', 'p50'), of('SyncLatency', 'p99', 'p99')], objective),
        lines('Events', 'Count', [of('EventsIn', 'Sum', 'objects')]),
        lines('Runs', 'Count', [of('SyncsWritten', 'Sum', 'written'), of('SyncsFailed', 'Sum', 'failed'), of('Parked', 'Sum', 'parked')]),
      ],
    },
    {
      title: 'Correctness',
      widgets: [
        lines('Shadow differences', 'Count', [of('ShadowDifferences', 'Maximum', 'services')]),
        lines('Services without a writer', 'Count', [of('ServicesWithoutWriter', 'Maximum', 'services')]),
        lines('Differences between snapshot and lists', 'Count', [of('Drift', 'Sum', 'objects')]),
      ],
    },
    {
      title: 'Metrics of kube-controller-manager',
      widgets: [
        numbers('Endpoints and slices', 'Count', [
          ...upstream('endpoint_slice_controller_endpoints_desired', 'Maximum', 'endpoints'),
          ...upstream('endpoint_slice_controller_num_endpoint_slices', 'Maximum', 'slices'),
          ...upstream('endpoint_slice_controller_desired_endpoint_slices', 'Maximum', 'slices at best'),
        ]),
        numbers('Services by traffic distribution', 'Count', upstream('endpoint_slice_controller_services_count_by_traffic_distribution', 'Maximum')),
      ],
    },
    {
      title: 'Queues',
      widgets: [
        queueWidget('Events queue', 'events'),
        queueWidget('Syncs queue', 'syncs'),
        lines('Age of the oldest message', 'Seconds', [
          onQueue('events', 'ApproximateAgeOfOldestMessage', 'events'),
          onQueue('syncs', 'ApproximateAgeOfOldestMessage', 'syncs'),
        ]),
      ],
    },
  ],
};

/** The cluster's dashboard, without metrics that lack a cluster dimension. */
export function clusterDashboardOf(kept: ClusterMetrics): Dashboard {
  const has = (series: Drawn): boolean => ('metric' in series ? perCluster[kept].includes(series.metric) : !('upstream' in series) || kept === 'all');
  const widgets = (row: Row): readonly Widget[] =>
    row.widgets.map((w) => ({ ...w, series: w.series.filter(has) })).filter((w) => w.series.length > 0);
  const rows = clusterDashboard.rows.map((row) => ({ ...row, widgets: widgets(row) })).filter((row) => row.widgets.length > 0);
  return { ...clusterDashboard, rows };
}

export const dashboards: readonly Dashboard[] = [fleetDashboard, clusterDashboard];
