import { type Alarm, on, onSource, visible } from './alarm.ts';

/**
 * The alarms of each cluster. Alarms of its state page if clusters.yaml asks for it. If many clusters are
 * affected at once, the hub's alarms page.
 */
export const clusterAlarms = (state: Alarm['severity']): readonly Alarm[] => [
  // The metric is missing while the cluster is paused. If sweep fails to publish, SweepSilent is in alarm.
  on('RelaySilent', 'RelayHeartbeatAge', 'Maximum', {
    severity: state,
    threshold: 90,
    periods: 5,
    datapoints: 3,
    meaning: 'the relay is silent, so endpoints aren’t updated',
  }),
  on('CircuitOpen', 'CircuitOpen', 'Maximum', {
    severity: state,
    threshold: 0,
    periods: 5,
    meaning: 'the hub can’t write to the cluster, so endpoints aren’t updated',
  }),
  on('FirstListsMissing', 'FirstListsMissing', 'Maximum', {
    severity: state,
    threshold: 0,
    periods: 10,
    meaning: 'the cluster’s first lists aren’t complete, so endpoints aren’t updated',
  }),
  onSource(
    'EventsDead',
    { ...visible, queue: 'dead-events' },
    {
      severity: 'ticket',
      threshold: 0,
      meaning: 'the worker failed fifty times on events, and has set them aside',
    },
  ),
  onSource(
    'SyncsDead',
    { ...visible, queue: 'dead-syncs' },
    {
      severity: 'ticket',
      threshold: 0,
      meaning: 'the worker failed fifty times on a Service, and has set its wake-up aside',
    },
  ),
  onSource(
    'SyncsBacklog',
    { aws: 'AWS/SQS', name: 'ApproximateAgeOfOldestMessage', queue: 'syncs', statistic: 'Maximum' },
    {
      severity: 'ticket',
      threshold: 120,
      periods: 5,
      meaning: 'wake-ups wait for over two minutes, so endpoints are late',
    },
  ),
];
