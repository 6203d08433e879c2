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
    meaning: 'changes wait: work of a Service is over a minute late',
  }),
  on('WriterConflict', 'WriterConflict', 'Maximum', {
    severity: 'page',
    threshold: 0,
    meaning: 'another controller writes the hub’s objects, so the hub has stopped writing to a cluster',
  }),
  on('SnapshotDrift', 'Drift', 'Sum', {
    severity: 'page',
    threshold: 0,
    periodMinutes: 30,
    periods: 2,
    meaning: 'the hub’s copy keeps differing from a cluster: events may be lost',
  }),
  on('WorkResent', 'SweepResends', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    meaning: 'messages are lost: sweep wakes their Services again, minutes late',
  }),
  on('ClusterMadeAnew', 'IncarnationBumped', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    meaning:
      'a cluster was restored, or created again under the same id: the hub writes nothing to it before its lists are complete',
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
    meaning: 'a cluster’s credentials expire within a week, and then the hub can’t write to it',
  }),
  on('ShiftsUnread', 'ZonalShiftUnread', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 5,
    meaning:
      'the zonal shifts of an EKS cluster can’t be read, so a new shift won’t reach Services that opt in',
  }),
  on('ManyGuardedRemovals', 'GuardedRemovals', 'Sum', {
    severity: 'ticket',
    threshold: 10,
    periodMinutes: 5,
    meaning: 'many Services would lose most of their endpoints at once, and the hub asks their cluster first',
  }),
  on('ShadowDiffers', 'ShadowDifferences', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 15,
    meaning: 'the hub’s endpoints differ from those of a cluster’s own controllers: don’t go active yet',
  }),
  on('NoWriter', 'ServicesWithoutWriter', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 15,
    meaning: 'nobody writes some Services that opt in, so their endpoints don’t follow their pods',
  }),
  on('PodsUnread', 'PodsTooLarge', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning:
      'a namespace or an export has more bytes of pods than a run reads, so its endpoints aren’t updated',
  }),
  ...alarmParts.flat(),
  on('CallsUnserved', 'CallsUnserved', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning: 'a cluster answers, but some calls keep failing, so endpoints of some Services aren’t updated',
  }),
  // By arrivals and not by the queue's depth: a message may lie there for two weeks, in which the next one
  // would raise no alarm.
  on('WorkParked', 'Parked', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'the hub has given up on an object that a cluster keeps refusing',
  }),
  on('MessagesQuarantined', 'Quarantined', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'messages are unreadable or not trusted, so the hub doesn’t apply them',
  }),
  on('MessagesFail', 'MessagesFailed', 'Sum', {
    severity: 'page',
    threshold: 0,
    ...comesBack,
    meaning: 'the worker keeps failing on messages, so changes are late',
  }),
  onSource(
    'WorkerFails',
    { ...errors, function: 'worker' },
    {
      severity: 'page',
      threshold: 0,
      ...comesBack,
      meaning: 'the worker crashes or times out, so changes are late',
    },
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
      meaning: 'the worker’s new version crashes or times out, so the deploy rolls back',
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
      meaning: 'sweep doesn’t run, so lost work stays lost and most other alarms are blind',
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
      meaning: 'CloudWatch Logs takes no lines of sweep, so most other alarms are blind',
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
      meaning: 'sweep fails for one cluster or for all, whose other alarms are blind',
    },
  ),
  onSource(
    'WorkerThrottled',
    { ...throttles, function: 'worker' },
    {
      severity: 'page',
      threshold: 0,
      periods: 5,
      meaning: 'Lambda refuses to run the worker, so changes are late',
    },
  ),
  onSource(
    'ConcurrencyHigh',
    { aws: 'AWS/Lambda', name: 'ConcurrentExecutions', function: 'account', statistic: 'Maximum' },
    {
      severity: 'ticket',
      threshold: 0.8 * lambdaConcurrencyLimit,
      periods: 5,
      meaning:
        'the account is near its limit of concurrent executions, where Lambda refuses to run the worker',
    },
  ),
  onSource(
    'LoopStopped',
    { ...dropped, function: 'worker' },
    {
      severity: 'page',
      threshold: 0,
      meaning: 'Lambda takes messages that the worker sends to itself for a loop and stops them',
    },
  ),
  onSource(
    'TableReadsThrottled',
    { ...tableThrottles, name: 'ReadThrottleEvents' },
    { severity: 'ticket', threshold: 10, periods: 5, meaning: 'DynamoDB refuses reads, so changes are late' },
  ),
  onSource(
    'TableWritesThrottled',
    { ...tableThrottles, name: 'WriteThrottleEvents' },
    {
      severity: 'ticket',
      threshold: 10,
      periods: 5,
      meaning: 'DynamoDB refuses writes, so changes are late',
    },
  ),
  // DynamoDB counts throttles of an index apart from those of its table, whose writes it then refuses.
  onSource(
    'IndexWritesThrottled',
    { ...tableThrottles, name: 'WriteThrottleEvents', index: true },
    {
      severity: 'ticket',
      threshold: 10,
      periods: 5,
      meaning: 'the index of overdue work refuses writes, and so does the table: changes are late',
    },
  ),
];

/**
 * A view of the hub's paging alarms. Each of them pages by itself. The composite lacks an action, because it
 * changes state only with the first of them.
 */
export const compositeAlarm = 'FleetUnhealthy';
