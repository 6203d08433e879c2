/** Each way in which the hub can fail, as data; cluster-alarms.ts has those of a cluster, many-clusters.ts those of many. Every id is a heading of docs/runbook.md. */
import { type Alarm, comesBack, dropped, errors, on, onSource, tableThrottles, throttles } from './alarm.ts';

/** One of each for the hub. */
export const hubAlarms = (lambdaConcurrencyLimit: number): readonly Alarm[] => [
  on('WorkOverdue', 'OldestDirtyAge', 'Maximum', {
    severity: 'page',
    threshold: 60,
    periods: 5,
    meaning: 'a service has been waiting for more than a minute',
  }),
  on('TwoWriters', 'WriterConflict', 'Maximum', { severity: 'page', threshold: 0, meaning: 'somebody else writes the objects that are ours' }),
  on('SnapshotDrift', 'Drift', 'Sum', {
    severity: 'page',
    threshold: 0,
    periodMinutes: 30,
    periods: 2,
    meaning: 'what lists and clusters tell keeps putting the snapshot in doubt',
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
    meaning: 'a cluster was restored or made anew under the same id',
  }),
  // Sweep reads each secret once an hour.
  on('CredentialsEnd', 'CredentialsEnding', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 60,
    meaning: 'the credentials in the secret of a cluster end within a week',
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
    meaning: 'what we compute is not what the cluster’s own controllers wrote',
  }),
  on('SourceSilent', 'SourcesSilent', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 5,
    meaning: 'the endpoints of a cluster that exports stay in the others as they were',
  }),
  on('SourceEvicted', 'SourcesEvicted', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    meaning: 'a cluster that exports is gone, and its endpoints are taken from the others',
  }),
  on('EvictionHeld', 'EvictionsHeld', 'Sum', {
    severity: 'page',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning: 'a cluster that exports is gone, and nothing is there to take its traffic',
  }),
  on('ExportRefused', 'ExportsRefused', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'a ServiceExport is not valid',
  }),
  on('ImportBlocked', 'ImportsBlocked', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'an object of another owner has the name of an import, or its cluster refuses a write of it',
  }),
  on('AddressCollision', 'AddressCollisions', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'two clusters export the same address',
  }),
  // By arrivals and not by the queue's depth: a message may lie there for two weeks, in which the next one would raise no alarm.
  on('WorkParked', 'Parked', 'Sum', { severity: 'ticket', threshold: 0, periodMinutes: 5, meaning: 'work used up its retries' }),
  on('MessagesQuarantined', 'Quarantined', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'messages could not be read, or not be believed',
  }),
  on('MessagesFail', 'MessagesFailed', 'Sum', {
    severity: 'page',
    threshold: 0,
    ...comesBack,
    meaning: 'ingest or sync keeps failing on messages, which come back',
  }),
  onSource(
    'IngestFails',
    { ...errors, function: 'ingest' },
    { severity: 'page', threshold: 0, ...comesBack, meaning: 'ingest crashes or runs out of time' },
  ),
  onSource(
    'SyncFails',
    { ...errors, function: 'sync' },
    { severity: 'page', threshold: 0, ...comesBack, meaning: 'sync crashes or runs out of time' },
  ),
  // These send a deploy back (rollout.ts), so they ring within the ten minutes that it takes.
  onSource(
    'NewIngestFails',
    { aws: 'AWS/Lambda', name: 'Errors', newVersionOf: 'ingest', statistic: 'Sum' },
    {
      severity: 'ticket',
      threshold: 0,
      periods: 5,
      datapoints: 2,
      meaning: 'the version of ingest that is being deployed crashes or runs out of time',
    },
  ),
  onSource(
    'NewSyncFails',
    { aws: 'AWS/Lambda', name: 'Errors', newVersionOf: 'sync', statistic: 'Sum' },
    {
      severity: 'ticket',
      threshold: 0,
      periods: 5,
      datapoints: 2,
      meaning: 'the version of sync that is being deployed crashes or runs out of time',
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
      meaning: 'sweep does not run, so most other alarms are deaf',
    },
  ),
  onSource(
    'SweepFails',
    { ...errors, function: 'sweep' },
    { severity: 'page', threshold: 0, periods: 5, datapoints: 3, meaning: 'sweep fails for a cluster or for all, whose other alarms are deaf then' },
  ),
  onSource(
    'IngestThrottled',
    { ...throttles, function: 'ingest' },
    { severity: 'page', threshold: 0, periods: 5, meaning: 'Lambda refuses to run ingest' },
  ),
  onSource(
    'SyncThrottled',
    { ...throttles, function: 'sync' },
    { severity: 'page', threshold: 0, periods: 5, meaning: 'Lambda refuses to run sync' },
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
    'IngestLoopStopped',
    { ...dropped, function: 'ingest' },
    { severity: 'page', threshold: 0, meaning: 'Lambda stopped messages that ingest sends again as a loop' },
  ),
  onSource(
    'LoopStopped',
    { ...dropped, function: 'sync' },
    { severity: 'page', threshold: 0, meaning: 'Lambda stopped a chain of retries as a loop' },
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

/** A view of the hub's paging alarms. Each of them pages by itself. The composite lacks an action, because it changes state only with the first of them. */
export const compositeAlarm = 'FleetUnhealthy';
