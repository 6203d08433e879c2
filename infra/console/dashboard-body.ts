/**
 * The dashboards of a deployed hub, as CloudWatch keeps them: they name the functions, queues and table whose names CloudFormation made, and what they
 * show is what this hub emits, whatever its version.
 */
import { chosenCluster } from '#infra/monitoring/dashboard-names.ts';
import type { Dashboard, Widget } from '#infra/monitoring/dashboards.ts';
import type { Statistic } from '#infra/monitoring/series.ts';

/** A metric as CloudWatch is asked for it. */
export interface MetricQuery {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: { readonly [name: string]: string };
  readonly statistic: Statistic;
}

/** A dashboard of ours without the series that the deployed one lacks, and the query of each that is left, by widget and series. */
export interface DeployedDashboard {
  readonly dashboard: Dashboard;
  readonly queries: readonly (readonly MetricQuery[])[];
}

type Entry = readonly (string | { readonly label?: string; readonly stat?: string })[];

interface Body {
  readonly widgets?: readonly { readonly properties?: { readonly title?: string; readonly metrics?: readonly Entry[] } }[];
}

type Drawn = Widget['series'][number];

/** Widgets are found by title and series by label. `text` is the body of GetDashboard. */
export function deployedDashboard(dashboard: Dashboard, text: string): DeployedDashboard {
  const { widgets = [] } = JSON.parse(text) as Body;
  const byTitle = new Map(widgets.map(({ properties }) => [properties?.title, properties?.metrics ?? []]));
  const queryOf = (widget: Widget, { label, statistic }: Drawn): MetricQuery | undefined => {
    const entry = byTitle.get(widget.title)?.find((e) => optionsOf(e).label === label && (optionsOf(e).stat ?? statistic) === statistic);
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
  const rows = dashboard.rows.map((row) => ({ ...row, widgets: row.widgets.flatMap(known) })).filter((row) => row.widgets.length > 0);
  return { dashboard: { ...dashboard, rows }, queries };
}

const optionsOf = (entry: Entry): { readonly label?: string; readonly stat?: string } => {
  const last = entry.at(-1);
  return typeof last === 'object' ? last : {};
};

/** [namespace, name, dimension, value, …, options] */
function metricOf(entry: Entry): Omit<MetricQuery, 'statistic'> {
  const [namespace = '', name = '', ...rest] = entry.filter((part) => typeof part === 'string');
  const dimensions: { [name: string]: string } = {};
  for (let i = 0; i + 1 < rest.length; i += 2) dimensions[rest[i] as string] = rest[i + 1] as string;
  return { namespace, name, dimensions };
}

/** In the values of dimensions the placeholder of the chosen cluster is replaced, as CloudWatch's variable does. */
export const ofCluster = (query: MetricQuery, cluster: string): MetricQuery => ({
  ...query,
  dimensions: Object.fromEntries(Object.entries(query.dimensions).map(([name, value]) => [name, value.replaceAll(chosenCluster, cluster)])),
});
