import { Duration, Stack } from 'aws-cdk-lib';
import {
  AlarmRule,
  AlarmState,
  Alarm as CloudWatchAlarm,
  Dashboard as CloudWatchDashboard,
  ComparisonOperator,
  CompositeAlarm,
  DashboardVariable,
  DefaultValue,
  GraphWidget,
  type IWidget,
  Metric,
  SingleValueWidget,
  TextWidget,
  TreatMissingData,
  Values,
  VariableInputType,
  VariableType,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { type Alarm, compositeAlarm, hubAlarms } from './alarms.ts';
import type { HubConfig } from './config.ts';
import { clusterDashboard, type Dashboard, fleetDashboard, type Widget } from './dashboards.ts';
import type { FunctionRole, QueueRole, Series } from './series.ts';

/** What the roles of series.ts are called here. */
export interface MetricSources {
  /** Of our own metrics. */
  readonly namespace: string;
  readonly functionName: (role: FunctionRole) => string;
  readonly queueName: (role: QueueRole) => string;
  readonly tableName: string;
  /** Where given, metrics of our own are those of this cluster. */
  readonly cluster?: string;
}

export interface MonitoringProps {
  readonly hub: HubConfig;
  readonly clusters: number;
  readonly sources: MetricSources;
}

/** Dashboards and alarms of the hub. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, { hub, clusters, sources }: MonitoringProps) {
    super(scope, id);
    drawDashboard(this, hub, fleetDashboard, sources);
    drawClusterDashboard(this, hub, sources);

    const topics = alarmTopics(this, hub);
    const made = hubAlarms({ lambdaConcurrencyLimit: hub.lambdaConcurrencyLimit, clusters }).map((alarm) => ({
      alarm,
      rings: makeAlarm(this, alarm, sources, topics),
    }));
    new CompositeAlarm(this, compositeAlarm, {
      alarmRule: AlarmRule.anyOf(
        ...made.filter(({ alarm }) => alarm.severity === 'page').map(({ rings }) => AlarmRule.fromAlarm(rings, AlarmState.ALARM)),
      ),
      alarmDescription: describe(compositeAlarm, 'at least one of the alarms that page rings; its children tell which'),
    });
  }
}

/** Where alarms ring, and where it is told that they have stopped; nowhere without a topic. */
export type AlarmTopics = { readonly [S in Alarm['severity']]: ITopic | undefined };

export function makeAlarm(scope: Construct, alarm: Alarm, sources: MetricSources, topics: AlarmTopics): CloudWatchAlarm {
  const made = new CloudWatchAlarm(scope, alarm.id, {
    metric: metricOf(alarm.series, sources, Duration.minutes(alarm.periodMinutes)),
    threshold: alarm.threshold,
    comparisonOperator: alarm.is === '>' ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
    evaluationPeriods: alarm.periods,
    datapointsToAlarm: alarm.datapoints ?? alarm.periods,
    treatMissingData: alarm.missing === 'fine' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
    alarmDescription: describe(alarm.id, alarm.meaning, sources.cluster),
  });
  const topic = topics[alarm.severity];
  if (topic) {
    made.addAlarmAction(new SnsAction(topic));
    // Incidents are closed by it.
    made.addOkAction(new SnsAction(topic));
  }
  return made;
}

export function alarmTopics(scope: Construct, { alarms }: HubConfig): AlarmTopics {
  return {
    page: alarms.pageTopicArn ? Topic.fromTopicArn(scope, 'Page', alarms.pageTopicArn) : undefined,
    ticket: alarms.ticketTopicArn ? Topic.fromTopicArn(scope, 'Ticket', alarms.ticketTopicArn) : undefined,
  };
}

export const runbookAnchor = (id: string): string => `docs/runbook.md#${id.toLowerCase()}`;

const describe = (id: string, meaning: string, cluster?: string): string =>
  `${cluster ? `${cluster}: ` : ''}${meaning}. What to do: ${runbookAnchor(id)}`;

function metricOf(series: Series, sources: MetricSources, period: Duration): Metric {
  const { statistic } = series;
  const { namespace } = sources;
  const ofCluster: Record<string, string> = sources.cluster === undefined ? {} : { cluster: sources.cluster };
  if ('metric' in series) return new Metric({ namespace, metricName: series.metric, dimensionsMap: ofCluster, statistic, period });
  if ('upstream' in series) {
    const dimensionsMap = { ...series.labels, ...ofCluster };
    return new Metric({ namespace, metricName: series.upstream, dimensionsMap, statistic, period });
  }
  return new Metric({ namespace: series.aws, metricName: series.name, dimensionsMap: awsDimensions(series, sources), statistic, period });
}

function awsDimensions(series: Extract<Series, { aws: unknown }>, sources: MetricSources): { [name: string]: string } {
  switch (series.aws) {
    case 'AWS/SQS':
      return { QueueName: sources.queueName(series.queue) };
    case 'AWS/Lambda':
      return series.function === 'account' ? {} : { FunctionName: sources.functionName(series.function) };
    case 'AWS/DynamoDB':
      return { TableName: sources.tableName };
  }
}

const columns = 24;

function drawDashboard(scope: Construct, hub: HubConfig, dashboard: Dashboard, sources: MetricSources, variables: DashboardVariable[] = []): void {
  const rows: IWidget[][] = dashboard.rows.flatMap((row) => [
    [new TextWidget({ markdown: `## ${row.title}`, width: columns, height: 1 })],
    row.widgets.map((widget) => drawWidget(widget, sources, Math.floor(columns / row.widgets.length))),
  ]);
  // An account's dashboards are those of all its regions.
  const dashboardName = `${hub.name}-${Stack.of(scope).region}-${dashboard.title}`;
  new CloudWatchDashboard(scope, dashboard.title, { dashboardName, widgets: rows, variables, defaultInterval: Duration.hours(3) });
}

function drawWidget(widget: Widget, sources: MetricSources, width: number): IWidget {
  const metrics = widget.series.map((s) => metricOf(s, sources, Duration.minutes(1)).with({ label: s.label }));
  if (widget.kind === 'numbers') return new SingleValueWidget({ title: widget.title, metrics, width, height: 4 });
  return new GraphWidget({
    title: widget.title,
    left: metrics,
    leftYAxis: { label: widget.unit, showUnits: false, min: 0 },
    ...(widget.limit && { leftAnnotations: [widget.limit] }),
    width,
    height: 6,
  });
}

/** One dashboard for all clusters. Queues have generated names, so each kind has a variable of its own. */
function drawClusterDashboard(scope: Construct, hub: HubConfig, hubSources: MetricSources): void {
  const placeholder = (queue: QueueRole): string => `${queue}-queue`;
  const queueVariable = (queue: 'events' | 'syncs', logicalId: string): DashboardVariable =>
    new DashboardVariable({
      id: `${queue}Queue`,
      label: `${queue} queue`,
      type: VariableType.PATTERN,
      value: placeholder(queue),
      inputType: VariableInputType.SELECT,
      values: Values.fromSearch(`{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent" ${logicalId}`, 'QueueName'),
      defaultValue: DefaultValue.FIRST,
    });
  const cluster = new DashboardVariable({
    id: 'cluster',
    label: 'Cluster',
    type: VariableType.PROPERTY,
    value: 'cluster',
    inputType: VariableInputType.SELECT,
    values: Values.fromSearch(`{${hubSources.namespace},cluster} MetricName="RelayHeartbeatAge"`, 'cluster'),
    defaultValue: DefaultValue.FIRST,
  });
  drawDashboard(scope, hub, clusterDashboard, { ...hubSources, cluster: 'cluster', queueName: placeholder }, [
    cluster,
    queueVariable('events', 'QueuesEvents'),
    queueVariable('syncs', 'QueuesSyncs'),
  ]);
}
