import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { type MetricName, metricsNamespaceOf } from '#shared/contract/metrics.ts';

/** A metric of the hub, or of one cluster. */
export function fleetMetric(hub: string, name: MetricName, options: MetricOptions, cluster?: string): Metric {
  const dimensionsMap: Record<string, string> = cluster === undefined ? {} : { cluster };
  return new Metric({
    namespace: metricsNamespaceOf(hub),
    metricName: name,
    dimensionsMap,
    period: Duration.minutes(1),
    ...options,
  });
}
