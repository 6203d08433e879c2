import { type Alarm, on, onSource, visible } from './alarm.ts';

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
