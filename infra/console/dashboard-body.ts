/**
 * Reads the dashboards of a deployed hub from CloudWatch. They contain the names of functions, queues and
 * table that CloudFormation generated, and the metrics that this hub's version emits.
 */
import { chosenCluster } from '#infra/aws/monitoring/dashboard-names.ts';
import type { Statistic } from '#infra/aws/monitoring/series.ts';
import type { Dashboard, Widget } from '#infra/aws/monitoring/widgets.ts';

/** A metric in a request to CloudWatch. */
export interface MetricQuery {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: { readonly [name: string]: string };
  readonly statistic: Statistic;
}

/**
 * A dashboard without the series that the deployed dashboard lacks, and the query of each series, by widget
 * and series.
 */
export interface DeployedDashboard {
  readonly dashboard: Dashboard;
  readonly queries: readonly (readonly MetricQuery[])[];
}

type Entry = readonly (string | { readonly label?: string; readonly stat?: string })[];

interface Body {
  readonly widgets?: readonly {
    readonly properties?: { readonly title?: string; readonly metrics?: readonly Entry[] };
  }[];
}

type Drawn = Widget['series'][number];

/** Matches widgets by title and series by label. `text` is the body of GetDashboard. */
export function deployedDashboard(dashboard: Dashboard, text: string): DeployedDashboard {
  const { widgets = [] } = JSON.parse(text) as Body;
  const byTitle = new Map(widgets.map(({ properties }) => [properties?.title, properties?.metrics ?? []]));
  const queryOf = (widget: Widget, { label, statistic }: Drawn): MetricQuery | undefined => {
    const entry = byTitle
      .get(widget.title)
      ?.find((e) => optionsOf(e).label === label && (optionsOf(e).stat ?? statistic) === statistic);
    return entry && { ...metricOf(entry), statistic };
  };
  const queries: (readonly MetricQuery[])[] = [];
  const known = (widget: Widget): readonly Widget[] => {
    const found = widget.series.flatMap((series) => {
      const query = queryOf(widget, series);
      return query ? [{ series, query }] : [];
    });
    if (found.length === 0) return [];
    queries.push(found.map(({ query }) => query));
    return [{ ...widget, series: found.map(({ series }) => series) }];
  };
  const rows = dashboard.rows
    .map((row) => ({ ...row, widgets: row.widgets.flatMap(known) }))
    .filter((row) => row.widgets.length > 0 || row.topTens !== undefined);
  return { dashboard: { ...dashboard, rows }, queries };
}

const optionsOf = (entry: Entry): { readonly label?: string; readonly stat?: string } => {
  const last = entry.at(-1);
  return typeof last === 'object' ? last : {};
};

/** Parses an entry of the form [namespace, name, dimension, value, …, options]. */
function metricOf(entry: Entry): Omit<MetricQuery, 'statistic'> {
  const [namespace = '', name = '', ...rest] = entry.filter((part) => typeof part === 'string');
  const dimensions: { [name: string]: string } = {};
  for (let i = 0; i + 1 < rest.length; i += 2) dimensions[rest[i] as string] = rest[i + 1] as string;
  return { namespace, name, dimensions };
}

/**
 * Replaces the placeholder of the chosen cluster in the values of dimensions, as CloudWatch's variable does.
 */
export const ofCluster = (query: MetricQuery, cluster: string): MetricQuery => ({
  ...query,
  dimensions: Object.fromEntries(
    Object.entries(query.dimensions).map(([name, value]) => [name, value.replaceAll(chosenCluster, cluster)]),
  ),
});
