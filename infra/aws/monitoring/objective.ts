/**
 * The objective: 99 % of the syncs of 30 days are written within 2 s of their due time
 * (shared/contract/metrics.ts). The other 1 % is the error budget. An alarm watches its burn rate over a long
 * window, so a moment does not page. It also watches a short window, so it ends with its cause (Google's SRE
 * workbook, "Alerting on SLOs"). It counts syncs: percentiles would weigh a quiet night like a storm.
 */
import { Duration } from 'aws-cdk-lib';
import {
  AlarmRule,
  AlarmState,
  Alarm as CloudWatchAlarm,
  CompositeAlarm,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { MetricName } from '#shared/contract/metrics.ts';
import type { Alarm } from './alarm.ts';
import { type AlarmTopics, describe, notify } from './alarm-topics.ts';
import { type MetricSources, metricOf } from './metric-sources.ts';

const percentThatMayBeLate = 1;

export interface BurnRate {
  /** A heading of docs/operate/runbook.md. */
  readonly id: string;
  readonly severity: Alarm['severity'];
  /** How many times as fast as would use the budget up in 30 days. */
  readonly rate: number;
  /** `least`: the number of syncs in the window below which the alarm does not apply. */
  readonly windows: readonly { readonly minutes: number; readonly least: number }[];
  readonly meaning: string;
}

export const burnRates: readonly BurnRate[] = [
  {
    id: 'SyncsLate',
    severity: 'page',
    rate: 14.4,
    windows: [
      { minutes: 60, least: 100 },
      { minutes: 5, least: 10 },
    ],
    meaning: 'one sync in seven is late: at this rate the month’s error budget lasts two days',
  },
  {
    id: 'SyncsOftenLate',
    severity: 'ticket',
    rate: 6,
    windows: [
      { minutes: 360, least: 200 },
      { minutes: 30, least: 20 },
    ],
    meaning: 'one sync in seventeen is late: at this rate the month’s error budget lasts five days',
  },
];

/** Rings when all of its windows do. */
export function makeBurnAlarm(
  scope: Construct,
  burn: BurnRate,
  sources: MetricSources,
  topics: AlarmTopics,
): CompositeAlarm {
  const windows = burn.windows.map(({ minutes, least }) => {
    const period = Duration.minutes(minutes);
    const count = (metric: MetricName) => metricOf({ metric, statistic: 'Sum' }, sources, period);
    return new CloudWatchAlarm(scope, `${burn.id}In${minutes}Minutes`, {
      metric: new MathExpression({
        expression: `IF(due >= ${least}, late / due, 0)`,
        usingMetrics: { due: count('SyncsDue'), late: count('SyncsLate') },
        label: 'share of late syncs',
        period,
      }),
      threshold: (burn.rate * percentThatMayBeLate) / 100,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: describe(topics, burn.id, `${burn.meaning} (the last ${minutes} minutes)`),
    });
  });
  const all = new CompositeAlarm(scope, burn.id, {
    alarmRule: AlarmRule.allOf(...windows.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
    alarmDescription: describe(topics, burn.id, burn.meaning),
  });
  notify(all, topics.bySeverity[burn.severity]);
  return all;
}
