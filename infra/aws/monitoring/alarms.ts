/**
 * Each way in which the hub can fail, as data; cluster-alarms.ts has those of a cluster, many-clusters.ts
 * those of many. Every id is a heading of docs/operate/runbook.md.
 */
import { type Alarm, comesBack, dropped, errors, on, onSource, tableThrottles, throttles } from './alarm.ts';
import { alarmParts } from './wing.ts';

/** One of each for the hub. */
export const hubAlarms = (lambdaConcurrencyLimit: number): readonly Alarm[] => [
  on('WorkOverdue', 'OldestDirtyAge', 'Maximum', {
    severity: 'page',
    threshold: 60,
    periods: 5,
    meaning: 'work of a service is overdue for more than a minute',
  }),
  on('WriterConflict', 'WriterConflict', 'Maximum', {
    severity: 'page',
    threshold: 0,
    meaning: 'another controller writes our objects',
  }),
  on('SnapshotDrift', 'Drift', 'Sum', {
    severity: 'page',
    threshold: 0,
    periodMinutes: 30,
    periods: 2,
    meaning: 'lists and clusters keep differing from the snapshot',
  }),
  on('WorkResent', 'SweepResends', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    meaning: 'sweep wakes services whose wake-up was lost',
  }),
  on('ClusterMadeAnew', 'IncarnationBumped', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    meaning: 'a cluster was restored, or created again under the same id',
  }),
  // Sweep reads each secret once an hour, in a minute of the cluster's own. A run that begins a second early
  // or late may miss that minute.
  on('CredentialsEnd', 'CredentialExpires', 'Minimum', {
    severity: 'ticket',
    is: '<',
    threshold: 7,
    periodMinutes: 60,
    periods: 2,
    datapoints: 1,
    meaning: 'the credentials in the secret of a cluster end within a week',
  }),
  on('ShiftsUnread', 'ZonalShiftUnread', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 5,
    meaning: 'the zonal shifts of an EKS cluster cannot be read',
  }),
  on('ManyGuardedRemovals', 'GuardedRemovals', 'Sum', {
    severity: 'ticket',
    threshold: 10,
    periodMinutes: 5,
    meaning: 'many services would lose most of their endpoints at once',
  }),
  on('ShadowDiffers', 'ShadowDifferences', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 15,
    meaning: 'our endpoints differ from those of the cluster’s own controllers',
  }),
  on('NoWriter', 'ServicesWithoutWriter', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 15,
    meaning: 'nobody writes the slices of some Services that opt in',
  }),
  on('PodsUnread', 'PodsTooLarge', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning:
      'a namespace or an export has more bytes of pods than a run reads, and its endpoints stay as they are',
  }),
  ...alarmParts.flat(),
  on('CallsUnserved', 'CallsUnserved', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning: 'work of some services waits, as their cluster answers, and does not serve their calls',
  }),
  // By arrivals and not by the queue's depth: a message may lie there for two weeks, in which the next one
  // would raise no alarm.
  on('WorkParked', 'Parked', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'work used up its retries',
  }),
  on('MessagesQuarantined', 'Quarantined', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'messages are unreadable or not trusted',
  }),
  on('MessagesFail', 'MessagesFailed', 'Sum', {
    severity: 'page',
    threshold: 0,
    ...comesBack,
    meaning: 'the worker keeps failing on messages',
  }),
  onSource(
    'WorkerFails',
    { ...errors, function: 'worker' },
    { severity: 'page', threshold: 0, ...comesBack, meaning: 'the worker crashes or runs out of time' },
  ),
  // A deploy rolls back on this alarm (rollout.ts), so it must be raised within the ten minutes of the shift.
  onSource(
    'NewWorkerFails',
    { aws: 'AWS/Lambda', name: 'Errors', newVersionOf: 'worker', statistic: 'Sum' },
    {
      severity: 'ticket',
      threshold: 0,
      periods: 5,
      datapoints: 2,
      meaning: 'the version of the worker that is being deployed crashes or runs out of time',
    },
  ),
  onSource(
    'SweepSilent',
    { aws: 'AWS/Lambda', name: 'Invocations', function: 'sweep', statistic: 'Sum' },
    {
      severity: 'page',
      is: '<',
      threshold: 1,
      periodMinutes: 5,
      missing: 'alarm',
      meaning: 'sweep does not run, so most other alarms do not work',
    },
  ),
  // Counted by CloudWatch itself: without lines all alarms on metrics of our own are silent, because they
  // take a missing value for a good one.
  onSource(
    'MetricsSilent',
    { aws: 'AWS/Logs', name: 'IncomingLogEvents', function: 'sweep', statistic: 'Sum' },
    {
      severity: 'page',
      is: '<',
      threshold: 1,
      periodMinutes: 5,
      periods: 2,
      missing: 'alarm',
      meaning:
        'CloudWatch Logs takes no lines of sweep, so the hub has no metrics and most other alarms do not work',
    },
  ),
  onSource(
    'SweepFails',
    { ...errors, function: 'sweep' },
    {
      severity: 'page',
      threshold: 0,
      periods: 5,
      datapoints: 3,
      meaning: 'sweep fails for one or all clusters, whose other alarms do not work then',
    },
  ),
  onSource(
    'WorkerThrottled',
    { ...throttles, function: 'worker' },
    { severity: 'page', threshold: 0, periods: 5, meaning: 'Lambda refuses to run the worker' },
  ),
  onSource(
    'ConcurrencyHigh',
    { aws: 'AWS/Lambda', name: 'ConcurrentExecutions', function: 'account', statistic: 'Maximum' },
    {
      severity: 'ticket',
      threshold: 0.8 * lambdaConcurrencyLimit,
      periods: 5,
      meaning: 'the account is near its limit of concurrent executions',
    },
  ),
  onSource(
    'LoopStopped',
    { ...dropped, function: 'worker' },
    {
      severity: 'page',
      threshold: 0,
      meaning: 'Lambda stopped messages that the worker sends again, or a chain of retries, as a loop',
    },
  ),
  onSource(
    'TableReadsThrottled',
    { ...tableThrottles, name: 'ReadThrottleEvents' },
    { severity: 'ticket', threshold: 10, periods: 5, meaning: 'DynamoDB refuses reads' },
  ),
  onSource(
    'TableWritesThrottled',
    { ...tableThrottles, name: 'WriteThrottleEvents' },
    { severity: 'ticket', threshold: 10, periods: 5, meaning: 'DynamoDB refuses writes' },
  ),
  // DynamoDB counts throttles of an index apart from those of its table, whose writes it then refuses.
  onSource(
    'IndexWritesThrottled',
    { ...tableThrottles, name: 'WriteThrottleEvents', index: true },
    {
      severity: 'ticket',
      threshold: 10,
      periods: 5,
      meaning: 'the index of overdue work takes no more writes, so DynamoDB refuses those of the table',
    },
  ),
];

/**
 * A view of the hub's paging alarms. Each of them pages by itself. The composite lacks an action, because it
 * changes state only with the first of them.
 */
export const compositeAlarm = 'FleetUnhealthy';
