/**
 * The dashboards as data. CloudWatch draws them in a deployed hub (monitoring.ts), the console draws the same
 * rows. `fleet` shows metrics without dimension; `cluster` those of one cluster, chosen by a variable, from
 * the metrics with a cluster dimension.
 */
import { type ClusterMetrics, objectiveMs, perCluster } from '#shared/contract/metrics.ts';
import { endpointDelayRow } from './endpoint-delay-row.ts';
import {
  type Dashboard,
  type Drawn,
  lines,
  numbers,
  onFunctions,
  onQueue,
  onTable,
  type Row,
  series,
  upstream,
  visible,
  type Widget,
} from './widgets.ts';
import { rowParts } from './wing.ts';

const objective = { value: objectiveMs, label: 'objective' };

export const fleetDashboard: Dashboard = {
  id: 'fleet',
  title: 'Fleet',
  rows: [
    {
      title: 'Health',
      widgets: [
        numbers('Oldest overdue work', 'Seconds', [series('OldestDirtyAge', 'Maximum', 'any cluster')]),
        numbers('Time since the last heartbeat', 'Seconds', [
          series('RelayHeartbeatAge', 'Maximum', 'longest'),
        ]),
        numbers('Blocked writes', 'Count', [
          series('CircuitOpen', 'Maximum', 'circuit open'),
          series('FirstListsMissing', 'Maximum', 'first lists missing'),
          series('WriterConflict', 'Maximum', 'writer conflict'),
        ]),
        numbers('Days until credentials end', 'Count', [series('CredentialExpires', 'Minimum', 'shortest')]),
        numbers('Messages for people', 'Count', [
          onQueue('parked', visible, 'parked'),
          onQueue('quarantine', visible, 'quarantine'),
        ]),
        lines('Blocked clusters', 'Count', [
          series('SilentRelays', 'Sum', 'relay silent'),
          series('OpenCircuits', 'Sum', 'circuit open'),
          series('FirstListsMissing', 'Sum', 'first lists missing'),
          series('Sweeps', 'Sum', 'runs of sweep'),
        ]),
      ],
    },
    {
      title: 'Latency',
      widgets: [
        lines(
          'From due to written',
          'Milliseconds',
          [series('SyncLatency', 'p50', 'p50'), series('SyncLatency', 'p99', 'p99')],
          objective,
        ),
        lines('Syncs within the objective', 'Count', [
          series('SyncsDue', 'Sum', 'due'),
          series('SyncsOnTime', 'Sum', 'on time'),
        ]),
        lines('From observed by the relay to stored', 'Milliseconds', [
          series('IngestLatency', 'p50', 'p50'),
          series('IngestLatency', 'p99', 'p99'),
        ]),
        lines('From due wake-up to start', 'Milliseconds', [
          series('QueueLatency', 'p50', 'p50'),
          series('QueueLatency', 'p99', 'p99'),
        ]),
        lines('Duration of runs and API calls', 'Milliseconds', [
          series('SyncDuration', 'p50', 'run p50'),
          series('SyncDuration', 'p99', 'run p99'),
          series('ApiLatency', 'p50', 'call p50'),
          series('ApiLatency', 'p99', 'call p99'),
        ]),
      ],
    },
    endpointDelayRow,
    {
      title: 'Throughput',
      widgets: [
        lines('Events', 'Count', [
          series('EventsIn', 'Sum', 'objects'),
          series('PodsTooLarge', 'Sum', 'pods of a namespace too large'),
        ]),
        lines('Wake-ups', 'Count', [
          series('WakeUps', 'Sum', 'sent'),
          series('Bounced', 'Sum', 'met a lease'),
          series('SweepResends', 'Sum', 'by sweep'),
        ]),
        lines('Runs', 'Count', [
          series('SyncsWritten', 'Sum', 'written'),
          series('SyncsUnchanged', 'Sum', 'unchanged'),
          series('SyncsFailed', 'Sum', 'failed'),
          series('SyncsWaiting', 'Sum', 'requeued'),
          series('CallsUnserved', 'Sum', 'not served'),
          series('SyncsConflict', 'Sum', 'conflicts'),
        ]),
        lines('Writes', 'Count', [
          series('WritesEndpoints', 'Sum', 'Endpoints'),
          series('WritesSlices', 'Sum', 'EndpointSlices'),
        ]),
        lines('Services that opt in', 'Count', [
          series('HandOversWaiting', 'Sum', 'waiting hand-overs'),
          series('OptInHeld', 'Sum', 'invalid annotations'),
        ]),
      ],
    },
    {
      title: 'Correctness',
      widgets: [
        lines('Shadow differences', 'Count', [series('ShadowDifferences', 'Maximum', 'services')]),
        lines('Zones that traffic is to leave', 'Count', [
          series('ZonesAway', 'Maximum', 'zones of a cluster'),
          series('ZoneHeld', 'Sum', 'runs that kept one'),
          series('ZonalShiftUnread', 'Maximum', 'zonal shift not read'),
        ]),
        lines('Services without a writer', 'Count', [series('ServicesWithoutWriter', 'Maximum', 'services')]),
        lines('Differences between snapshot and lists', 'Count', [
          series('Drift', 'Sum', 'objects'),
          series('IncarnationBumped', 'Sum', 'restored clusters'),
        ]),
        lines('Writes of other clients', 'Count', [
          series('ForeignWrites', 'Sum', 'foreign writes'),
          series('ServicesInConflict', 'Sum', 'services in conflict'),
          series('GuardedRemovals', 'Sum', 'mass-removal guard'),
        ]),
        lines('Given up', 'Count', [
          series('Parked', 'Sum', 'parked'),
          series('Quarantined', 'Sum', 'quarantined'),
          series('HistoryLost', 'Sum', 'lost history records'),
        ]),
      ],
    },
    ...rowParts,
    {
      title: 'Metrics of kube-controller-manager',
      widgets: [
        lines('Endpoints of slices', 'Count', [
          ...upstream('endpoint_slice_controller_endpoints_added_per_sync', 'Sum', 'added'),
          ...upstream('endpoint_slice_controller_endpoints_removed_per_sync', 'Sum', 'removed'),
        ]),
        lines('Slice syncs', 'Count', upstream('endpoint_slice_controller_syncs', 'Sum')),
        lines('Slice changes', 'Count', upstream('endpoint_slice_controller_changes', 'Sum')),
        lines(
          'Slices by topology',
          'Count',
          upstream('endpoint_slice_controller_endpointslices_changed_per_sync', 'Sum'),
        ),
      ],
    },
    {
      title: 'Functions',
      widgets: [
        lines('Invocations', 'Count', onFunctions('Invocations', 'Sum', 'ingest', 'sync', 'sweep')),
        lines('Errors', 'Count', [
          ...onFunctions('Errors', 'Sum', 'ingest', 'sync', 'sweep'),
          series('MessagesFailed', 'Sum', 'failed messages'),
        ]),
        lines('Throttles', 'Count', onFunctions('Throttles', 'Sum', 'ingest', 'sync', 'sweep')),
        lines('Duration, p99', 'Milliseconds', onFunctions('Duration', 'p99', 'ingest', 'sync', 'sweep')),
      ],
    },
    {
      title: 'Capacity',
      widgets: [
        lines('Table units', 'Count', [
          ...onTable('ConsumedReadCapacityUnits', 'read'),
          ...onTable('ConsumedWriteCapacityUnits', 'written'),
        ]),
        lines('Table throttles', 'Count', [
          ...onTable('ReadThrottleEvents', 'reads'),
          ...onTable('WriteThrottleEvents', 'writes'),
        ]),
        lines(
          'Concurrent executions',
          'Count',
          onFunctions('ConcurrentExecutions', 'Maximum', 'ingest', 'sync'),
        ),
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
        numbers('Oldest overdue work', 'Seconds', [series('OldestDirtyAge', 'Maximum', 'overdue')]),
        numbers('Time since the last heartbeat', 'Seconds', [
          series('RelayHeartbeatAge', 'Maximum', 'silent'),
        ]),
        numbers('Blocked writes', 'Count', [
          series('CircuitOpen', 'Maximum', 'circuit open'),
          series('FirstListsMissing', 'Maximum', 'first lists missing'),
          series('WriterConflict', 'Maximum', 'writer conflict'),
        ]),
      ],
    },
    {
      title: 'Latency and load',
      widgets: [
        lines(
          'From due to written',
          'Milliseconds',
          [series('SyncLatency', 'p50', 'p50'), series('SyncLatency', 'p99', 'p99')],
          objective,
        ),
        lines('Events', 'Count', [series('EventsIn', 'Sum', 'objects')]),
        lines('Runs', 'Count', [
          series('SyncsWritten', 'Sum', 'written'),
          series('SyncsFailed', 'Sum', 'failed'),
          series('Parked', 'Sum', 'parked'),
        ]),
      ],
    },
    endpointDelayRow,
    {
      title: 'Correctness',
      widgets: [
        lines('Shadow differences', 'Count', [series('ShadowDifferences', 'Maximum', 'services')]),
        lines('Services without a writer', 'Count', [series('ServicesWithoutWriter', 'Maximum', 'services')]),
        lines('Differences between snapshot and lists', 'Count', [series('Drift', 'Sum', 'objects')]),
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
        numbers(
          'Services by traffic distribution',
          'Count',
          upstream('endpoint_slice_controller_services_count_by_traffic_distribution', 'Maximum'),
        ),
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
  const has = (series: Drawn): boolean =>
    'metric' in series ? perCluster[kept].includes(series.metric) : !('upstream' in series) || kept === 'all';
  const widgets = (row: Row): readonly Widget[] =>
    row.widgets.map((w) => ({ ...w, series: w.series.filter(has) })).filter((w) => w.series.length > 0);
  const rows = clusterDashboard.rows
    .map((row) => ({ ...row, widgets: widgets(row) }))
    .filter((row) => row.widgets.length > 0);
  return { ...clusterDashboard, rows };
}

export const dashboards: readonly Dashboard[] = [fleetDashboard, clusterDashboard];
