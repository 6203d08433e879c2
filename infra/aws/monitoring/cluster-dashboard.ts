/** The dashboard of one cluster, chosen by a variable, from the metrics with a cluster dimension. */
import {
  type ClusterMetrics,
  delayPerCluster,
  type MetricName,
  perCluster,
} from '#shared/contract/metrics.ts';
import { objective } from './fleet-dashboard.ts';
import type { Statistic } from './series.ts';
import {
  type Dashboard,
  type Drawn,
  lines,
  numbers,
  onQueue,
  type Row,
  series,
  upstream,
  visible,
  type Widget,
} from './widgets.ts';

const queueWidget = (title: string, queue: 'events' | 'syncs'): Widget =>
  lines(title, 'Count', [
    onQueue(queue, visible, 'waiting'),
    onQueue(queue, 'ApproximateNumberOfMessagesDelayed', 'delayed'),
    onQueue(queue, 'ApproximateNumberOfMessagesNotVisible', 'in flight'),
  ]);
const oldest = (title: string, queue: 'events' | 'syncs'): Widget =>
  lines(title, 'Seconds', [onQueue(queue, 'ApproximateAgeOfOldestMessage', 'oldest message')]);

export const clusterDashboard: Dashboard = {
  id: 'cluster',
  title: 'Cluster',
  rows: [
    {
      title: 'Is anything wrong?',
      normal: 'Normal: overdue below 60 s, a heartbeat every 30 s, nothing blocked.',
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
      title: 'Where is the time lost?',
      normal:
        'A change goes from left to right: relay, ingest, sync, and back to the relay, which sees the slice. Normal: waits of a few seconds, writes within 2 s. An empty last chart means that no delay was above 2 s, unless the hub keeps all metrics.',
      widgets: [
        oldest('Wait for ingest', 'events'),
        oldest('Wait for sync', 'syncs'),
        lines(
          'From due to written',
          'Milliseconds',
          [series('SyncLatency', 'p50', 'p50'), series('SyncLatency', 'p99', 'p99')],
          objective,
        ),
        lines(
          'Delay of endpoints',
          'Milliseconds',
          [
            series('EndpointReadyDelay', 'p99', 'ready p99'),
            series('EndpointReadyDelay', 'Maximum', 'ready, longest'),
            series('EndpointRemovalDelay', 'p99', 'removal p99'),
            series('EndpointRemovalDelay', 'Maximum', 'removal, longest'),
          ],
          objective,
        ),
      ],
    },
    {
      title: 'How much is there to do?',
      normal: 'Normal: queues return to 0 within a minute, no run fails, nothing is parked.',
      widgets: [
        lines('Events', 'Count', [series('EventsIn', 'Sum', 'objects')]),
        queueWidget('Events queue', 'events'),
        queueWidget('Syncs queue', 'syncs'),
        lines('Runs', 'Count', [
          series('SyncsWritten', 'Sum', 'written'),
          series('SyncsFailed', 'Sum', 'failed'),
          series('Parked', 'Sum', 'parked'),
        ]),
      ],
    },
    {
      title: 'Who writes, and is it right?',
      normal: 'Normal: all are 0, except the history.',
      widgets: [
        lines('Writers', 'Count', [
          series('ShadowDifferences', 'Maximum', 'services that differ'),
          series('ServicesWithoutWriter', 'Maximum', 'services without a writer'),
        ]),
        lines('Zones that traffic is to leave', 'Count', [series('ZonesAway', 'Maximum', 'zones')]),
        lines('Drift of the snapshot', 'Count', [series('Drift', 'Sum', 'objects')]),
        lines('History', 'Count', [series('HistoryBytes', 'Sum', 'bytes')]),
      ],
    },
    {
      title: 'Metrics of kube-controller-manager',
      normal: 'Normal: as many slices as there are at best, or a few more.',
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
  ],
};

/** The cluster's dashboard, without what `hub.clusterMetrics` does not keep for a cluster. */
export function clusterDashboardOf(kept: ClusterMetrics): Dashboard {
  // With `few` only long delays are kept, so a percentile of them would say nothing.
  const isKept = (metric: MetricName, statistic: Statistic): boolean =>
    perCluster[kept].includes(metric) &&
    (kept === 'all' || statistic === 'Maximum' || !delayPerCluster.includes(metric));
  const has = (series: Drawn): boolean =>
    'metric' in series ? isKept(series.metric, series.statistic) : !('upstream' in series) || kept === 'all';
  const widgets = (row: Row): readonly Widget[] =>
    row.widgets.map((w) => ({ ...w, series: w.series.filter(has) })).filter((w) => w.series.length > 0);
  const rows = clusterDashboard.rows
    .map((row) => ({ ...row, widgets: widgets(row) }))
    .filter((row) => row.widgets.length > 0);
  return { ...clusterDashboard, rows };
}
