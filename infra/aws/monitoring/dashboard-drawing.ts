import { Duration, Stack } from 'aws-cdk-lib';
import {
  AlarmState,
  AlarmStatusWidget,
  AlarmStatusWidgetSortBy,
  Dashboard as CloudWatchDashboard,
  DashboardVariable,
  DefaultValue,
  GraphWidget,
  type IAlarm,
  type IWidget,
  MathExpression,
  PeriodOverride,
  SingleValueWidget,
  TextWidget,
  Values,
  VariableInputType,
  VariableType,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type ClusterQueueRole, queueNameOf } from '#infra/aws/stages/queue-arns.ts';
import type { HubConfig } from '#infra/config/config.ts';
import { clusterDashboard, clusterDashboardOf } from './cluster-dashboard.ts';
import { chosenCluster, dashboardNameOf } from './dashboard-names.ts';
import { fleetDashboard } from './fleet-dashboard.ts';
import { type MetricSources, metricOf } from './metric-sources.ts';
import type { QueueRole } from './series.ts';
import { type Dashboard, type Row, type TopTen, topTenQuery, type Widget } from './widgets.ts';

const columns = 24;

interface Drawing {
  readonly dashboard: Dashboard;
  readonly sources: MetricSources;
  /** The choices at its top. */
  readonly variables?: DashboardVariable[];
  /** Drawn in its first row, where there are any. */
  readonly alarms?: readonly IAlarm[];
}

/** Draws a widget in the given width. */
type Draw = (width: number) => IWidget;

function drawDashboard(
  scope: Construct,
  hub: HubConfig,
  { dashboard, sources, variables = [], alarms = [] }: Drawing,
): CloudWatchDashboard {
  const nameOf = (of: Dashboard): string => dashboardNameOf(hub.name, Stack.of(scope).region, of);
  const rows: IWidget[][] = dashboard.rows.flatMap((row, i) => [
    [new TextWidget({ markdown: headingOf(row, nameOf(clusterDashboard)), width: columns, height: 2 })],
    ...inLines([
      ...(i === 0 && alarms.length > 0 ? [drawAlarms(alarms)] : []),
      ...(row.topTens ?? []).map((topTen) => drawTopTen(topTen, sources)),
      ...row.widgets.map((widget) => (width: number) => drawWidget(widget, sources, width)),
    ]),
  ]);
  return new CloudWatchDashboard(scope, dashboard.title, {
    dashboardName: nameOf(dashboard),
    widgets: rows,
    variables,
    defaultInterval: Duration.hours(3),
    // Sweep reports each cluster once a minute: a sum of a longer period would count a cluster several times.
    periodOverride: PeriodOverride.INHERIT,
  });
}

/** Charts narrower than a quarter of the page have no room for their labels. */
const mostInALine = 4;

function inLines(widgets: readonly Draw[]): IWidget[][] {
  const lines = Math.ceil(widgets.length / mostInALine);
  const each = Math.ceil(widgets.length / lines);
  return Array.from({ length: lines }, (_, i) => {
    const line = widgets.slice(i * each, (i + 1) * each);
    return line.map((draw) => draw(Math.floor(columns / line.length)));
  });
}

/** The link opens the cluster's dashboard. CloudWatch documents no address that also chooses the cluster. */
function headingOf({ title, normal, topTens }: Row, clusterDashboardName: string): string {
  const next = topTens
    ? ` Then open the [cluster dashboard](#dashboards:name=${clusterDashboardName}) and choose the cluster at its top.`
    : '';
  return `## ${title}\n${normal}${next}`;
}

/** Lists the alarms that fire, the newest first. */
const drawAlarms =
  (alarms: readonly IAlarm[]): Draw =>
  (width) =>
    new AlarmStatusWidget({
      title: 'Active alarms of the hub',
      alarms: [...alarms],
      states: [AlarmState.ALARM],
      sortBy: AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
      width,
      height: 3,
    });

const drawTopTen =
  ({ title, metric, unit, limit }: TopTen, { namespace }: MetricSources): Draw =>
  (width) =>
    new GraphWidget({
      title,
      left: [
        new MathExpression({
          expression: topTenQuery(metric, namespace),
          label: '',
          period: Duration.minutes(1),
        }),
      ],
      leftYAxis: { label: unit, showUnits: false, min: 0 },
      ...(limit && { leftAnnotations: [limit] }),
      width,
      height: 6,
    });

export const drawFleetDashboard = (
  scope: Construct,
  hub: HubConfig,
  sources: MetricSources,
  alarms: readonly IAlarm[],
): CloudWatchDashboard => drawDashboard(scope, hub, { dashboard: fleetDashboard, sources, alarms });

function drawWidget(widget: Widget, sources: MetricSources, width: number): IWidget {
  const metrics = widget.series.map((s) =>
    metricOf(s, sources, Duration.minutes(1)).with({ label: s.label }),
  );
  if (widget.kind === 'numbers')
    return new SingleValueWidget({ title: widget.title, metrics, width, height: 3 });
  return new GraphWidget({
    title: widget.title,
    left: metrics,
    leftYAxis: { label: widget.unit, showUnits: false, min: 0 },
    ...(widget.limit && { leftAnnotations: [widget.limit] }),
    width,
    height: 6,
  });
}

/** One dashboard for all clusters: the choice of a cluster leads to its metrics and its queues. */
export function drawClusterDashboard(
  scope: Construct,
  hub: HubConfig,
  hubSources: MetricSources,
): CloudWatchDashboard {
  const dashboard = clusterDashboardOf(hub.clusterMetrics);
  // A metric that every cluster has, in any mode.
  const clusters = Values.fromSearch(
    `{${hubSources.namespace},cluster} MetricName="OldestDirtyAge"`,
    'cluster',
  );
  const cluster = new DashboardVariable({
    id: 'cluster',
    label: 'Cluster',
    type: VariableType.PATTERN,
    value: chosenCluster,
    inputType: VariableInputType.SELECT,
    values: clusters,
    defaultValue: DefaultValue.FIRST,
  });
  const queueName = (queue: QueueRole): string => queueNameOf(hub.name, chosenCluster, clusterRoleOf(queue));
  const sources = { ...hubSources, cluster: chosenCluster, queueName };
  return drawDashboard(scope, hub, { dashboard, sources, variables: [cluster] });
}

function clusterRoleOf(queue: QueueRole): ClusterQueueRole {
  if (queue === 'events' || queue === 'syncs') return queue;
  if (queue === 'dead-events' || queue === 'dead-syncs')
    return queue === 'dead-events' ? 'events-dead' : 'syncs-dead';
  throw new Error(`${queue} is a queue of the hub's, and of no cluster`);
}
