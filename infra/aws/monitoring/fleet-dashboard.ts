/**
 * The dashboard of all clusters. Its first row says whether something is wrong, the second which cluster, the
 * third how late changes are; the last one is for a weekly look.
 */
import { objectiveMs } from '#shared/contract/metrics.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';
import {
  type Dashboard,
  lines,
  numbers,
  onFunctions,
  onQueue,
  onTable,
  type Row,
  series,
  upstream,
  visible,
} from './widgets.ts';
import { countParts, delayParts } from './wing.ts';

export const objective = { value: objectiveMs, label: 'objective' };

const health: Row = {
  title: 'Is anything wrong?',
  normal: 'Normal: no alarm, and every number is 0. The description of an alarm links to its steps.',
  widgets: [
    numbers('Clusters with trouble', 'Count', [
      series('SilentRelays', 'Sum', 'relay silent'),
      series('OpenCircuits', 'Sum', 'cannot be written to'),
      series('FirstListsMissing', 'Sum', 'first lists missing'),
    ]),
    numbers('Services with trouble', 'Count', [
      series('ShadowDifferences', 'Sum', 'differ'),
      series('ServicesWithoutWriter', 'Sum', 'have no writer'),
      series('ServicesInConflict', 'Sum', 'in conflict'),
    ]),
    numbers('Late writes', 'Count', [series('SyncsLate', 'Sum', 'later than 2 s')]),
  ],
};

const clusters: Row = {
  title: 'Which cluster?',
  normal:
    'Each chart names the ten highest. Normal: overdue below 60 s, a heartbeat every 30 s, delays below 2 s, no difference and no open circuit.',
  widgets: [],
  topTens: [
    { title: 'Oldest overdue work', metric: 'OldestDirtyAge', unit: 'Seconds' },
    {
      title: 'Time since the last heartbeat',
      metric: 'RelayHeartbeatAge',
      unit: 'Seconds',
      limit: { value: silentAfterMs / 1000, label: 'silent' },
    },
    {
      title: 'Longest delay of endpoints',
      metric: 'EndpointReadyDelay',
      unit: 'Milliseconds',
      limit: objective,
    },
    { title: 'Shadow differences', metric: 'ShadowDifferences', unit: 'Count' },
    { title: 'Open circuits', metric: 'CircuitOpen', unit: 'Count' },
  ],
};

const latency: Row = {
  title: 'How late are changes?',
  normal:
    'Normal: half of all changes below 0.2 s, 99 % below 2 s. The hop that rises with the total is where the time is lost.',
  widgets: [
    lines('Delay of endpoints', 'Milliseconds', [
      series('EndpointReadyDelay', 'p50', 'ready p50'),
      series('EndpointReadyDelay', 'p99', 'ready p99'),
      series('EndpointRemovalDelay', 'p50', 'removal p50'),
      series('EndpointRemovalDelay', 'p99', 'removal p99'),
    ]),
    lines(
      'Where is the time lost?',
      'Milliseconds',
      [
        series('SyncLatency', 'p50', 'due to written p50'),
        series('SyncLatency', 'p99', 'due to written p99'),
        series('IngestLatency', 'p99', 'until stored p99'),
        series('QueueLatency', 'p99', 'until started p99'),
        series('SyncDuration', 'p99', 'run p99'),
        series('ApiLatency', 'p99', 'API call p99'),
        ...delayParts.flat(),
      ],
      objective,
    ),
  ],
};

const weekly: Row = {
  title: 'Once a week',
  normal:
    'Normal: runs follow changes; conflicts and retries are few; nothing is given up; throttles are 0; credentials last more than 7 days.',
  widgets: [
    lines('Changes', 'Count', [
      series('EventsIn', 'Sum', 'objects'),
      series('WakeUps', 'Sum', 'wake-ups'),
      series('SyncsDue', 'Sum', 'due'),
      series('SyncsWritten', 'Sum', 'runs with writes'),
      series('SyncsUnchanged', 'Sum', 'runs without'),
      series('WritesEndpoints', 'Sum', 'Endpoints'),
      series('WritesSlices', 'Sum', 'EndpointSlices'),
    ]),
    lines('Repeated runs', 'Count', [
      series('SyncsFailed', 'Sum', 'failed'),
      series('SyncsWaiting', 'Sum', 'requeued'),
      series('CallsUnserved', 'Sum', 'not served'),
      series('SyncsConflict', 'Sum', 'conflicts'),
      series('Bounced', 'Sum', 'met a lease'),
      series('SweepResends', 'Sum', 'woken by sweep'),
      series('Sweeps', 'Sum', 'runs of sweep'),
    ]),
    lines('Given up', 'Count', [
      series('Parked', 'Sum', 'parked'),
      series('Quarantined', 'Sum', 'quarantined'),
      onQueue('parked', visible, 'in the parked queue'),
      onQueue('quarantine', visible, 'in quarantine'),
      series('MessagesFailed', 'Sum', 'failed messages'),
      series('PodsTooLarge', 'Sum', 'pods too large'),
      series('HistoryLost', 'Sum', 'lost history records'),
    ]),
    lines('Writers', 'Count', [
      series('WriterConflict', 'Maximum', 'writer conflict'),
      series('ForeignWrites', 'Sum', 'foreign writes'),
      series('GuardedRemovals', 'Sum', 'mass-removal guard'),
      series('HandOversWaiting', 'Sum', 'waiting hand-overs'),
      series('OptInHeld', 'Sum', 'invalid annotations'),
      series('Drift', 'Sum', 'objects that differ from the snapshot'),
      series('IncarnationBumped', 'Sum', 'restored clusters'),
    ]),
    lines('Zones and credentials', 'Count', [
      series('ZonesAway', 'Maximum', 'zones away'),
      series('ZoneHeld', 'Sum', 'runs that kept one'),
      series('ZonalShiftUnread', 'Maximum', 'shift not read'),
      series('CredentialExpires', 'Minimum', 'days of credentials left'),
    ]),
    ...(countParts.length > 0 ? [lines('Across clusters', 'Count', countParts.flat())] : []),
    lines('Slices, counted as by kube-controller-manager', 'Count', [
      ...upstream('endpoint_slice_controller_syncs', 'Sum'),
      ...upstream('endpoint_slice_controller_changes', 'Sum'),
      ...upstream('endpoint_slice_controller_endpoints_added_per_sync', 'Sum', 'endpoints added'),
      ...upstream('endpoint_slice_controller_endpoints_removed_per_sync', 'Sum', 'endpoints removed'),
      ...upstream('endpoint_slice_controller_endpointslices_changed_per_sync', 'Sum'),
    ]),
    lines('Functions', 'Count', [
      ...onFunctions('Errors', 'Sum', { label: 'errors', roles: ['worker', 'sweep'] }),
      ...onFunctions('Throttles', 'Sum', { label: 'throttles', roles: ['worker', 'sweep'] }),
      ...onFunctions('ConcurrentExecutions', 'Maximum', { label: 'at once', roles: ['worker'] }),
    ]),
    lines('Table', 'Count', [
      ...onTable('ConsumedReadCapacityUnits', 'read units'),
      ...onTable('ConsumedWriteCapacityUnits', 'write units'),
      ...onTable('ReadThrottleEvents', 'read throttles'),
      ...onTable('WriteThrottleEvents', 'write throttles'),
    ]),
  ],
};

export const fleetDashboard: Dashboard = {
  id: 'fleet',
  title: 'Fleet',
  rows: [health, clusters, latency, weekly],
};
