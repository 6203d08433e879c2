import type { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { dirtyIndex } from '#shared/contract/table-attributes.ts';
import type { FunctionRole, LiveFunction, QueueRole, Series } from './series.ts';

/** Names of this hub's resources for the roles of series.ts. */
export interface MetricSources {
  /** Namespace of our own metrics. */
  readonly namespace: string;
  readonly functionName: (role: FunctionRole) => string;
  /** Dimensions of its version that is new in this deploy. */
  readonly newVersion: (role: LiveFunction) => { [dimension: string]: string };
  readonly logGroupName: (role: FunctionRole) => string;
  readonly queueName: (role: QueueRole) => string;
  readonly tableName: string;
  /** Where given, metrics of our own are those of this cluster. */
  readonly cluster?: string;
}

export function metricOf(series: Series, sources: MetricSources, period: Duration): Metric {
  const { statistic } = series;
  const { namespace } = sources;
  const ofCluster: Record<string, string> = sources.cluster === undefined ? {} : { cluster: sources.cluster };
  if ('metric' in series)
    return new Metric({ namespace, metricName: series.metric, dimensionsMap: ofCluster, statistic, period });
  if ('upstream' in series) {
    const dimensionsMap = { ...series.labels, ...ofCluster };
    return new Metric({ namespace, metricName: series.upstream, dimensionsMap, statistic, period });
  }
  return new Metric({
    namespace: series.aws,
    metricName: series.name,
    dimensionsMap: awsDimensions(series, sources),
    statistic,
    period,
  });
}

function awsDimensions(
  series: Extract<Series, { aws: unknown }>,
  sources: MetricSources,
): { [name: string]: string } {
  switch (series.aws) {
    case 'AWS/SQS':
      return { QueueName: sources.queueName(series.queue) };
    case 'AWS/Lambda':
      if ('newVersionOf' in series) return sources.newVersion(series.newVersionOf);
      return series.function === 'account' ? {} : { FunctionName: sources.functionName(series.function) };
    case 'AWS/Logs':
      return { LogGroupName: sources.logGroupName(series.function) };
    case 'AWS/DynamoDB':
      return {
        TableName: sources.tableName,
        ...(series.index && { GlobalSecondaryIndexName: dirtyIndex.name }),
      };
  }
}
