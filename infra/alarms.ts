/** Each way in which it can fail, as data. Every id is a heading of docs/runbook.md. */
import type { MetricName } from '#shared/contract/metrics.ts';
import type { Series, Statistic } from './series.ts';

export interface Alarm {
  readonly id: string;
  /** `page`: somebody is woken. `ticket`: within working hours. */
  readonly severity: 'page' | 'ticket';
  readonly series: Series;
  readonly is: '>' | '<';
  readonly threshold: number;
  readonly periodMinutes: number;
  /** In a row. */
  readonly periods: number;
  readonly missing: 'fine' | 'alarm';
  /** What is the matter when it rings. */
  readonly meaning: string;
}

type Rest = Pick<Alarm, 'severity' | 'threshold' | 'meaning'> & Partial<Alarm>;
const usual = { is: '>', periodMinutes: 1, periods: 1, missing: 'fine' } as const;
const on = (id: string, metric: MetricName, statistic: Statistic, rest: Rest): Alarm => ({ ...usual, id, series: { metric, statistic }, ...rest });
const onSource = (id: string, series: Series, rest: Rest): Alarm => ({ ...usual, id, series, ...rest });
const visible = { aws: 'AWS/SQS', name: 'ApproximateNumberOfMessagesVisible', statistic: 'Maximum' } as const;
const throttles = { aws: 'AWS/Lambda', name: 'Throttles', statistic: 'Sum' } as const;
const errors = { aws: 'AWS/Lambda', name: 'Errors', statistic: 'Sum' } as const;
const dropped = { aws: 'AWS/Lambda', name: 'RecursiveInvocationsDropped', statistic: 'Sum' } as const;
const tableThrottles = { aws: 'AWS/DynamoDB', statistic: 'Sum' } as const;

/** One of each for the hub. Where they look at clusters, they look at the worst of them. */
export const hubAlarms = (lambdaConcurrencyLimit: number): readonly Alarm[] => [
  on('WorkOverdue', 'OldestDirtyAge', 'Maximum', {
    severity: 'page',
    threshold: 60,
    periods: 5,
    meaning: 'a service has been waiting for more than a minute',
  }),
  on('SyncsSlow', 'SyncLatency', 'p99', {
    severity: 'ticket',
    threshold: 2000,
    periods: 15,
    meaning: 'more than one change in a hundred takes over two seconds',
  }),
  on('SyncsVerySlow', 'SyncLatency', 'p99', {
    severity: 'page',
    threshold: 10_000,
    periods: 5,
    meaning: 'more than one change in a hundred takes over ten seconds',
  }),
  on('AnyRelaySilent', 'RelayHeartbeatAge', 'Maximum', {
    severity: 'page',
    threshold: 90,
    periods: 3,
    meaning: 'at least one relay is not heard of',
  }),
  on('AnyCircuitOpen', 'CircuitOpen', 'Maximum', { severity: 'page', threshold: 0, periods: 5, meaning: 'at least one cluster can’t be written to' }),
  on('GateClosed', 'GateClosed', 'Maximum', {
    severity: 'page',
    threshold: 0,
    periods: 10,
    meaning: 'the first lists of a cluster do not get complete',
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
  on('ManyBraked', 'Braked', 'Sum', {
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
  onSource('WorkParked', { ...visible, queue: 'parked' }, { severity: 'ticket', threshold: 0, meaning: 'work used up its retries' }),
  onSource(
    'MessagesQuarantined',
    { ...visible, queue: 'quarantine' },
    { severity: 'ticket', threshold: 0, meaning: 'messages could not be read, or not be believed' },
  ),
  on('MessagesFail', 'MessagesFailed', 'Sum', {
    severity: 'page',
    threshold: 0,
    periods: 5,
    meaning: 'ingest or sync keeps failing on messages, which come back',
  }),
  onSource(
    'IngestFails',
    { ...errors, function: 'ingest' },
    { severity: 'page', threshold: 0, periods: 5, meaning: 'ingest crashes or runs out of time' },
  ),
  onSource('SyncFails', { ...errors, function: 'sync' }, { severity: 'page', threshold: 0, periods: 5, meaning: 'sync crashes or runs out of time' }),
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
    { severity: 'page', threshold: 0, periods: 3, meaning: 'sweep fails for a cluster or for all, whose other alarms are deaf then' },
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
];

/** For each cluster: they tell which one. Those that would page for a hundred clusters at once ring once, above. */
export const clusterAlarms: readonly Alarm[] = [
  on('RelaySilent', 'RelayHeartbeatAge', 'Maximum', {
    severity: 'ticket',
    threshold: 90,
    periods: 3,
    missing: 'alarm',
    meaning: 'the relay is not heard of',
  }),
  on('CircuitOpen', 'CircuitOpen', 'Maximum', { severity: 'ticket', threshold: 0, periods: 5, meaning: 'the cluster can’t be written to' }),
  onSource(
    'EventsDead',
    { ...visible, queue: 'dead-events' },
    { severity: 'ticket', threshold: 0, meaning: 'ingest failed fifty times on a message' },
  ),
  onSource('SyncsDead', { ...visible, queue: 'dead-syncs' }, { severity: 'ticket', threshold: 0, meaning: 'sync failed fifty times on a message' }),
  onSource(
    'SyncsBacklog',
    { aws: 'AWS/SQS', name: 'ApproximateAgeOfOldestMessage', queue: 'syncs', statistic: 'Maximum' },
    {
      severity: 'ticket',
      threshold: 120,
      periods: 5,
      meaning: 'wake-ups wait longer than they should',
    },
  ),
];

/** Pages once, whichever of the hub's alarms pages. */
export const compositeAlarm = 'FleetUnhealthy';
