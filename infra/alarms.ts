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
  /** It rings when `datapoints` of the last `periods` are over the threshold; all of them where nothing else is said. */
  readonly periods: number;
  readonly datapoints?: number;
  readonly missing: 'fine' | 'alarm';
  /** What is the matter when it rings. */
  readonly meaning: string;
}

/** What thresholds depend on. */
export interface FleetSize {
  readonly lambdaConcurrencyLimit: number;
  readonly clusters: number;
}

type Rest = Pick<Alarm, 'severity' | 'threshold' | 'meaning'> & Partial<Alarm>;
const usual = { is: '>', periodMinutes: 1, periods: 1, missing: 'fine' } as const;
const on = (id: string, metric: MetricName, statistic: Statistic, rest: Rest): Alarm => ({ ...usual, id, series: { metric, statistic }, ...rest });
const onSource = (id: string, series: Series, rest: Rest): Alarm => ({ ...usual, id, series, ...rest });
const visible = { aws: 'AWS/SQS', name: 'ApproximateNumberOfMessagesVisible', statistic: 'Maximum' } as const;
const throttles = { aws: 'AWS/Lambda', name: 'Throttles', statistic: 'Sum' } as const;
const errors = { aws: 'AWS/Lambda', name: 'Errors', statistic: 'Sum' } as const;
const dropped = { aws: 'AWS/Lambda', name: 'RecursiveInvocationsDropped', statistic: 'Sum' } as const;
/**
 * A message that fails comes back within seconds or minutes, one whose batch crashed after the visibility timeout of three minutes (cluster-queues.ts). So
 * its failures are never in minutes in a row, but five of fifteen at least.
 */
const comesBack = { periods: 15, datapoints: 3 } as const;
const tableThrottles = { aws: 'AWS/DynamoDB', statistic: 'Sum' } as const;

/**
 * What a cluster may be in for a while wakes nobody until more clusters are in it than maintenance explains: more than two, and more than one in twenty.
 * In a fleet too small for that, all of them. The metric is 1 or 0 a cluster, so its average is their share; half a cluster below the next whole number.
 */
export function pagingShare(clusters: number): number {
  if (clusters === 0) return 1;
  const mostThatMay = Math.min(Math.max(2, Math.floor(clusters / 20)), clusters - 1);
  return (mostThatMay + 0.5) / clusters;
}

/** One of each for the hub. */
export const hubAlarms = ({ lambdaConcurrencyLimit, clusters }: FleetSize): readonly Alarm[] => [
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
  on('ManyRelaysSilent', 'SilentRelays', 'Average', {
    severity: 'page',
    threshold: pagingShare(clusters),
    periods: 5,
    datapoints: 3,
    meaning: 'the relays of many clusters are not heard of',
  }),
  on('ManyCircuitsOpen', 'OpenCircuits', 'Average', {
    severity: 'page',
    threshold: pagingShare(clusters),
    periods: 7,
    datapoints: 5,
    meaning: 'many clusters can’t be written to',
  }),
  on('ManyGatesClosed', 'ClosedGates', 'Average', {
    severity: 'page',
    threshold: pagingShare(clusters),
    periods: 12,
    datapoints: 10,
    meaning: 'the first lists of many clusters do not get complete',
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
  // By what arrives, and not by what lies there: that can be two weeks, in which the next would be told to nobody.
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
];

/** For each cluster: they tell which one. Those of its state page too where clusters.yaml says so; of many clusters at once, the hub's do. */
export const clusterAlarms = (state: Alarm['severity']): readonly Alarm[] => [
  // Not published while the cluster is paused; that sweep publishes nothing is told by SweepSilent.
  on('RelaySilent', 'RelayHeartbeatAge', 'Maximum', {
    severity: state,
    threshold: 90,
    periods: 5,
    datapoints: 3,
    meaning: 'the relay is not heard of',
  }),
  on('CircuitOpen', 'CircuitOpen', 'Maximum', { severity: state, threshold: 0, periods: 5, meaning: 'the cluster can’t be written to' }),
  on('GateClosed', 'GateClosed', 'Maximum', {
    severity: state,
    threshold: 0,
    periods: 10,
    meaning: 'the first lists of the cluster do not get complete',
  }),
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

/** A view of the hub's alarms that page, each of which pages by itself: this one calls nobody, as it would be silent while any of them stands. */
export const compositeAlarm = 'FleetUnhealthy';
