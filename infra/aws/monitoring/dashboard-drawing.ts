import { Duration, Stack } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  DashboardVariable,
  DefaultValue,
  GraphWidget,
  type IWidget,
  SingleValueWidget,
  TextWidget,
  Values,
  VariableInputType,
  VariableType,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type ClusterQueueRole, queueNameOf } from '#infra/aws/stages/queue-arns.ts';
import type { HubConfig } from '#infra/config/config.ts';
import { chosenCluster, dashboardNameOf } from './dashboard-names.ts';
import { clusterDashboardOf } from './dashboards.ts';
import { type MetricSources, metricOf } from './metric-sources.ts';
import type { QueueRole } from './series.ts';
import type { Dashboard, Widget } from './widgets.ts';

const columns = 24;

interface Drawing {
  readonly dashboard: Dashboard;
  readonly sources: MetricSources;
  /** The choices at its top. */
  readonly variables?: DashboardVariable[];
}

export function drawDashboard(
  scope: Construct,
  hub: HubConfig,
  { dashboard, sources, variables = [] }: Drawing,
): CloudWatchDashboard {
  const rows: IWidget[][] = dashboard.rows.flatMap((row) => [
    [new TextWidget({ markdown: `## ${row.title}`, width: columns, height: 1 })],
    row.widgets.map((widget) => drawWidget(widget, sources, Math.floor(columns / row.widgets.length))),
  ]);
  const dashboardName = dashboardNameOf(hub.name, Stack.of(scope).region, dashboard);
  return new CloudWatchDashboard(scope, dashboard.title, {
    dashboardName,
    widgets: rows,
    variables,
    defaultInterval: Duration.hours(3),
  });
}

function drawWidget(widget: Widget, sources: MetricSources, width: number): IWidget {
  const metrics = widget.series.map((s) =>
    metricOf(s, sources, Duration.minutes(1)).with({ label: s.label }),
  );
  if (widget.kind === 'numbers')
    return new SingleValueWidget({ title: widget.title, metrics, width, height: 4 });
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
