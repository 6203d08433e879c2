import { Annotations, Duration } from 'aws-cdk-lib';
import {
  type AlarmBase,
  Alarm as CloudWatchAlarm,
  ComparisonOperator,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { HubConfig } from '#infra/config/config.ts';
import type { Alarm } from './alarm.ts';
import { type MetricSources, metricOf } from './metric-sources.ts';

/**
 * The topics that alarms notify when they begin and when they end (none without a topic), and the runbook
 * that they link to.
 */
export interface AlarmTopics {
  readonly bySeverity: { readonly [S in Alarm['severity']]: ITopic | undefined };
  readonly runbookUrl: string;
}

/** By the alarm's id. */
export interface Alarms {
  readonly [id: string]: AlarmBase;
}

export function alarmTopicsOf(
  scope: Construct,
  {
    pageTopicArn,
    ticketTopicArn,
    runbookUrl,
  }: Pick<HubConfig, 'pageTopicArn' | 'ticketTopicArn' | 'runbookUrl'>,
): AlarmTopics {
  return {
    bySeverity: {
      page: pageTopicArn ? Topic.fromTopicArn(scope, 'Page', pageTopicArn) : undefined,
      ticket: ticketTopicArn ? Topic.fromTopicArn(scope, 'Ticket', ticketTopicArn) : undefined,
    },
    // Path in the package, and in a checkout.
    runbookUrl: runbookUrl ?? 'docs/operate/runbook.md',
  };
}

/** An alarm without an action changes its colour in a console that nobody looks at. */
export function warnOfSilence(scope: Construct, { bySeverity }: AlarmTopics): void {
  for (const severity of ['page', 'ticket'] as const) {
    if (bySeverity[severity]) continue;
    const text = `${severity}TopicArn is missing, so nobody hears of alarms with the severity ${severity} (docs/operate/monitoring.md)`;
    Annotations.of(scope).addWarningV2(`fleet-endpoints:alarms-without-${severity}-topic`, text);
  }
}

export function makeAlarm(
  scope: Construct,
  alarm: Alarm,
  sources: MetricSources,
  topics: AlarmTopics,
): CloudWatchAlarm {
  const made = new CloudWatchAlarm(scope, alarm.id, {
    metric: metricOf(alarm.series, sources, Duration.minutes(alarm.periodMinutes)),
    threshold: alarm.threshold,
    comparisonOperator:
      alarm.is === '>' ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
    evaluationPeriods: alarm.periods,
    datapointsToAlarm: alarm.datapoints ?? alarm.periods,
    treatMissingData: alarm.missing === 'fine' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
    alarmDescription: describe(topics, alarm.id, alarm.meaning, sources.cluster),
  });
  notify(made, topics.bySeverity[alarm.severity]);
  return made;
}

export function notify(alarm: AlarmBase, topic: ITopic | undefined): void {
  if (!topic) return;
  alarm.addAlarmAction(new SnsAction(topic));
  // Closes the incident.
  alarm.addOkAction(new SnsAction(topic));
}

export const runbookAnchor = (runbookUrl: string, id: string): string => `${runbookUrl}#${id.toLowerCase()}`;

export const describe = (
  { runbookUrl }: AlarmTopics,
  id: string,
  meaning: string,
  cluster?: string,
): string => `${cluster ? `${cluster}: ` : ''}${meaning}. What to do: ${runbookAnchor(runbookUrl, id)}`;
