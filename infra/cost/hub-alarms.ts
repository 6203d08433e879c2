/**
 * The alarms of one hub. An alarm's name begins with its stack's, which an app of its own chooses, so the metrics decide. The alarm of the account's
 * concurrency is left out, because its metric names no hub.
 */
import { type CloudWatchClient, type CompositeAlarm, DescribeAlarmsCommand, type Metric, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type { HubUsage } from './hub-usage.ts';

export interface HubNames {
  /** Namespace of the hub's own metrics. */
  readonly namespace: string;
  /** Names of its table, functions and queues, as dimensions have them. */
  readonly resources: ReadonlySet<string>;
}

export async function readAlarms(client: CloudWatchClient, names: HubNames): Promise<Pick<HubUsage, 'alarmMetrics' | 'compositeAlarms'>> {
  const own: MetricAlarm[] = [];
  const composites: CompositeAlarm[] = [];
  let NextToken: string | undefined;
  do {
    const answer = await client.send(new DescribeAlarmsCommand({ AlarmTypes: ['MetricAlarm', 'CompositeAlarm'], NextToken }));
    own.push(...(answer.MetricAlarms ?? []).filter((alarm) => metricsOf(alarm).some((metric) => isOwn(metric, names))));
    composites.push(...(answer.CompositeAlarms ?? []));
    NextToken = answer.NextToken;
  } while (NextToken);
  const alarmNames = own.flatMap(({ AlarmName }) => AlarmName ?? []);
  return {
    alarmMetrics: own.reduce((sum, alarm) => sum + metricsOf(alarm).length, 0),
    compositeAlarms: composites.filter(({ AlarmRule = '' }) => alarmNames.some((name) => AlarmRule.includes(name))).length,
  };
}

function metricsOf({ Namespace, MetricName, Dimensions, Metrics = [] }: MetricAlarm): readonly Metric[] {
  const inMath = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
  return inMath.length > 0 ? inMath : [{ Namespace, MetricName, Dimensions }];
}

const isOwn = ({ Namespace, Dimensions = [] }: Metric, { namespace, resources }: HubNames): boolean =>
  Namespace === namespace || Dimensions.some(({ Value = '' }) => resources.has(Value));
