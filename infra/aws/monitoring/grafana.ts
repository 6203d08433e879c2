/**
 * Dashboards for Grafana: the hub's by its CloudWatch data source, from the rows of dashboards.ts, and the
 * relays' by Prometheus. Series of functions, the table and the hub's own queues are left out, because only a
 * deploy knows these names.
 */
import { queueNameOf } from '#infra/aws/stages/queue-arns.ts';
import { metricsNamespaceOf, type Unit } from '#shared/contract/metrics.ts';
import { type RelayMetric, relayMetrics } from '#shared/contract/relay-metrics.ts';
import { clusterDashboard } from './cluster-dashboard.ts';
import { fleetDashboard } from './fleet-dashboard.ts';
import { type Dashboard, type TopTen, topTenQuery, type Widget } from './widgets.ts';

export interface GrafanaFile {
  /** Below dist/grafana of the package. */
  readonly name: string;
  readonly dashboard: object;
}

export const grafanaDashboards = (): readonly GrafanaFile[] => [
  { name: 'fleet.json', dashboard: ofHub(fleetDashboard, false) },
  { name: 'cluster.json', dashboard: ofHub(clusterDashboard, true) },
  { name: 'relay.json', dashboard: ofRelays() },
];

const columns = 24;
const units: { readonly [U in Unit]: string } = { Count: 'short', Milliseconds: 'ms', Seconds: 's' };
const source = (type: 'cloudwatch' | 'prometheus') => ({ type, uid: '$datasource' });
type Target = { readonly refId: string; readonly [field: string]: unknown };
interface Panel {
  readonly title: string;
  readonly kind: Widget['kind'];
  readonly unit: string;
  readonly targets: readonly Target[];
  readonly description?: string;
}

const refId = (i: number): string => String.fromCharCode(65 + i);

function ofHub({ id, title, rows }: Dashboard, ofCluster: boolean): object {
  const panels = (widgets: readonly Widget[]): readonly Panel[] =>
    widgets.flatMap((widget) => {
      const targets = widget.series.flatMap((series, i) => targetOf(series, ofCluster, refId(i)) ?? []);
      return targets.length === 0
        ? []
        : [{ title: widget.title, kind: widget.kind, unit: units[widget.unit], targets }];
    });
  const shown = rows
    .map((row) => ({
      title: row.title,
      panels: [...(row.topTens ?? []).map(topTenPanel), ...panels(row.widgets)],
    }))
    .filter((row) => row.panels.length > 0);
  const text = (name: string, label: string, query: string) => ({
    name,
    label,
    type: 'textbox',
    query,
    current: { text: query, value: query },
  });
  const variables = [
    text('region', 'Region', 'default'),
    text('hub', 'Hub', 'FleetEndpoints'),
    ...(ofCluster ? [clusterVariable] : []),
  ];
  return draw({
    uid: `fleet-endpoints-${id}`,
    title: `fleet-endpoints: ${title}`,
    type: 'cloudwatch',
    variables,
    rows: shown,
  });
}

const topTenPanel = ({ title, metric, unit }: TopTen): Panel => ({
  title,
  kind: 'lines',
  unit: units[unit],
  targets: [
    {
      refId: 'A',
      datasource: source('cloudwatch'),
      queryMode: 'Metrics',
      metricQueryType: 1,
      metricEditorMode: 1,
      region: '$region',
      namespace: metricsNamespaceOf('$hub'),
      metricName: metric,
      sqlExpression: topTenQuery(metric, metricsNamespaceOf('$hub')),
      period: '60',
    },
  ],
});

/** A metric that every cluster has, in any mode. */
const clusterVariable = {
  name: 'cluster',
  label: 'Cluster',
  type: 'query',
  datasource: source('cloudwatch'),
  refresh: 2,
  sort: 5,
  query: {
    refId: 'cluster',
    queryType: 'dimensionValues',
    region: '$region',
    namespace: metricsNamespaceOf('$hub'),
    metricName: 'OldestDirtyAge',
    dimensionKey: 'cluster',
  },
};

function targetOf(series: Widget['series'][number], ofCluster: boolean, id: string): Target | undefined {
  const cluster: { readonly [name: string]: readonly string[] } = ofCluster ? { cluster: ['$cluster'] } : {};
  const named = (
    namespace: string,
    metricName: string,
    dimensions: { readonly [name: string]: readonly string[] },
  ): Target => ({
    refId: id,
    datasource: source('cloudwatch'),
    queryMode: 'Metrics',
    metricQueryType: 0,
    metricEditorMode: 0,
    id: '',
    expression: '',
    region: '$region',
    namespace,
    metricName,
    dimensions,
    matchExact: true,
    statistic: series.statistic,
    period: '60',
    label: series.label,
  });
  if ('metric' in series) return named(metricsNamespaceOf('$hub'), series.metric, cluster);
  if ('upstream' in series) {
    const labels = Object.entries(series.labels).map(([name, value]) => [name, [value]]);
    return named(metricsNamespaceOf('$hub'), series.upstream, { ...Object.fromEntries(labels), ...cluster });
  }
  const isOfCluster =
    ofCluster && series.aws === 'AWS/SQS' && (series.queue === 'events' || series.queue === 'syncs');
  return isOfCluster
    ? named(series.aws, series.name, { QueueName: [queueNameOf('$hub', '$cluster', series.queue)] })
    : undefined;
}

function queryOf(name: string, { type, byKind, labels = [] }: RelayMetric) {
  const selected = (metric: string): string => `${metric}{namespace=~"$namespace"}`;
  const legend = (...by: readonly string[]): string => by.map((label) => `{{${label}}}`).join(' ');
  const rate = (metric: string): string => `rate(${selected(metric)}[$__rate_interval])`;
  if (type === 'histogram')
    return {
      expr: `histogram_quantile(0.99, sum by (le, ${labels.join(', ')}) (${rate(`${name}_bucket`)}))`,
      legendFormat: legend(...labels),
    };
  const by = byKind ? 'kind' : 'pod';
  if (type === 'counter') return { expr: `sum by (${by}) (${rate(name)})`, legendFormat: legend(by) };
  const each = byKind ? ['pod', 'kind'] : ['pod'];
  return { expr: `max by (${each.join(', ')}) (${selected(name)})`, legendFormat: legend(...each) };
}

/** Gauges by pod, counters as rates by kind or pod, histograms as their 99th percentile by their labels. */
function ofRelays(): object {
  const panels = Object.entries<RelayMetric>(relayMetrics).map(([name, metric]): Panel => {
    const { type, help } = metric;
    const target = { refId: 'A', datasource: source('prometheus'), ...queryOf(name, metric) };
    const unit = type === 'counter' ? 'cps' : name.endsWith('_seconds') ? 's' : 'short';
    return { title: name, description: help, kind: 'lines', unit, targets: [target] };
  });
  const namespaces = {
    name: 'namespace',
    label: 'Namespace',
    type: 'query',
    datasource: source('prometheus'),
    refresh: 2,
    includeAll: true,
    query: { refId: 'namespace', qryType: 1, query: 'label_values(relay_leading, namespace)' },
  };
  const rows = [
    { title: 'State', panels: panels.filter((panel) => panel.unit !== 'cps') },
    { title: 'Rates', panels: panels.filter((panel) => panel.unit === 'cps') },
  ];
  return draw({
    uid: 'fleet-endpoints-relay',
    title: 'fleet-endpoints: Relays',
    type: 'prometheus',
    variables: [namespaces],
    rows,
  });
}

interface Drawing {
  readonly uid: string;
  readonly title: string;
  readonly type: 'cloudwatch' | 'prometheus';
  readonly variables: readonly object[];
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

function draw({ uid, title, type, variables, rows }: Drawing): object {
  const datasource = { name: 'datasource', label: 'Data source', type: 'datasource', query: type };
  const drawn: object[] = [];
  let y = 0;
  for (const row of rows) {
    drawn.push({
      id: drawn.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    const across = Math.min(row.panels.length, 4);
    const w = columns / across;
    for (const [i, { kind, unit, description, targets, title: name }] of row.panels.entries()) {
      const h = 8;
      drawn.push({
        id: drawn.length + 1,
        type: kind === 'numbers' ? 'stat' : 'timeseries',
        title: name,
        ...(description && { description }),
        datasource: source(type),
        fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
        gridPos: { x: (i % across) * w, y: y + Math.floor(i / across) * h, w, h },
        targets,
      });
    }
    y += Math.ceil(row.panels.length / across) * 8;
  }
  return {
    uid,
    title,
    tags: ['fleet-endpoints'],
    schemaVersion: 39,
    editable: true,
    refresh: '1m',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'utc',
    templating: { list: [datasource, ...variables] },
    panels: drawn,
  };
}
