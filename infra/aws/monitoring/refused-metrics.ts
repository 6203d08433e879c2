/**
 * Metrics travel in log lines. CloudWatch counts the lines that it takes without their metrics: what is lost
 * this way is missing in every other alarm.
 */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm as CloudWatchAlarm,
  ComparisonOperator,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type AlarmTopics, describe, notify } from './alarm-topics.ts';
import { type MetricSources, metricOf } from './metric-sources.ts';

/** A heading of docs/operate/runbook.md. */
export const refusedMetrics = {
  id: 'MetricsRefused',
  severity: 'ticket',
  meaning: 'CloudWatch refuses metrics of the functions, so alarms on them are blind',
} as const;

/** Each of them is billed as an alarm. */
export const refusals = (['worker', 'sweep'] as const).flatMap((role) =>
  ['EMFParsingErrors', 'EMFValidationErrors'].map((name) => ({ id: `${role}${name}`, role, name })),
);

export function makeRefusedAlarm(
  scope: Construct,
  sources: MetricSources,
  topics: AlarmTopics,
): CloudWatchAlarm {
  const { id, severity, meaning } = refusedMetrics;
  const period = Duration.minutes(5);
  const made = new CloudWatchAlarm(scope, id, {
    metric: new MathExpression({
      expression: refusals.map(({ id: each }) => `FILL(${each}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(
        refusals.map(({ id: each, name, role }) => [
          each,
          metricOf({ aws: 'AWS/Logs', name, function: role, statistic: 'Sum' }, sources, period),
        ]),
      ),
      label: 'lines whose metrics are refused',
      period,
    }),
    threshold: 0,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    alarmDescription: describe(topics, id, meaning),
  });
  notify(made, topics.bySeverity[severity]);
  return made;
}
