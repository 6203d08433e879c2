/**
 * States that a cluster may be in for a while. They page only when more clusters are in one than maintenance
 * explains: more than two, and more than one in twenty. In a fleet of up to three clusters these are all of
 * them.
 *
 * Each sweep publishes one value a cluster, 1 or 0. The sum of a sweep is therefore the number of clusters in
 * the state, and its sample count is the size of the fleet. A minute usually has one sweep. The schedule is
 * not exact to the second, so it may have two or none. The alarm counts clusters that other apps deploy too.
 */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm as CloudWatchAlarm,
  ComparisonOperator,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { MetricName } from '#shared/contract/metrics.ts';
import { type AlarmTopics, describe, notify } from './alarm-topics.ts';
import { type MetricSources, metricOf } from './metric-sources.ts';

export interface ManyClusters {
  /** A heading of docs/operate/runbook.md. */
  readonly id: string;
  readonly metric: MetricName;
  /** Minutes; in alarm when `datapoints` of the last `periods` have too many clusters. */
  readonly periods: number;
  readonly datapoints: number;
  readonly meaning: string;
}

export const manyClusters: readonly ManyClusters[] = [
  {
    id: 'ManyRelaysSilent',
    metric: 'SilentRelays',
    periods: 5,
    datapoints: 3,
    meaning: 'the relays of many clusters are silent, so their endpoints aren’t updated',
  },
  {
    id: 'ManyCircuitsOpen',
    metric: 'OpenCircuits',
    periods: 7,
    datapoints: 5,
    meaning: 'the hub can’t write to many clusters, so their endpoints aren’t updated',
  },
  {
    id: 'ManyFirstListsMissing',
    metric: 'FirstListsMissing',
    periods: 12,
    datapoints: 10,
    meaning: 'the first lists of many clusters aren’t complete, so their endpoints aren’t updated',
  },
];

/**
 * 1 while too many clusters are in the state. A version before the metric `sweeps` counts as one sweep a
 * minute.
 */
const tooMany = 'IF((affected > 2 * FILL(sweeps, 1) AND affected > known / 20) OR affected == known, 1, 0)';

export function makeManyAlarm(
  scope: Construct,
  { id, metric, meaning, ...when }: ManyClusters,
  sources: MetricSources,
  topics: AlarmTopics,
) {
  const period = Duration.minutes(1);
  const affected = metricOf({ metric, statistic: 'Sum' }, sources, period);
  const made = new CloudWatchAlarm(scope, id, {
    metric: new MathExpression({
      expression: tooMany,
      usingMetrics: {
        affected,
        known: affected.with({ statistic: 'SampleCount' }),
        sweeps: metricOf({ metric: 'Sweeps', statistic: 'Sum' }, sources, period),
      },
      label: 'too many clusters',
      period,
    }),
    threshold: 0,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: when.periods,
    datapointsToAlarm: when.datapoints,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    alarmDescription: describe(topics, id, meaning),
  });
  notify(made, topics.bySeverity.page);
  return made;
}
