import {
  type CloudWatchClient,
  GetDashboardCommand,
  GetMetricDataCommand,
  type MetricDataQuery,
} from '@aws-sdk/client-cloudwatch';
import { expect, it } from 'vitest';
import { clusterDashboard } from '#infra/aws/monitoring/cluster-dashboard.ts';
import { chosenCluster } from '#infra/aws/monitoring/dashboard-names.ts';
import { fleetDashboard } from '#infra/aws/monitoring/fleet-dashboard.ts';
import type { Dashboard, Widget } from '#infra/aws/monitoring/widgets.ts';
import type { DashboardsAnswer } from '#infra/console/api-types.ts';
import { cloudWatchLinks } from '#infra/console/cloudwatch-links.ts';
import { cloudWatchMetrics } from '#infra/console/cloudwatch-metrics.ts';
import { deployedDashboard } from '#infra/console/dashboard-body.ts';
import { deployedConsole } from '#infra/console/deployed-console.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const hour = Date.UTC(2026, 0, 1, 12) / 1000;

/** As the CDK draws it: each series under a metric that is called like its label. */
const bodyOf = ({ rows }: Dashboard, has: (widget: Widget) => boolean = () => true): string =>
  JSON.stringify({
    widgets: [
      { type: 'text', properties: { markdown: '## Row' } },
      ...rows.flatMap((row) =>
        row.widgets.filter(has).map((w) => ({
          type: 'metric',
          properties: {
            title: w.title,
            metrics: w.series.map((s) => [
              'Own',
              s.label,
              'cluster',
              chosenCluster,
              'QueueName',
              `Shop-${chosenCluster}-events`,
              { label: s.label, stat: s.statistic },
            ]),
          },
        })),
      ),
    ],
  });

/** CloudWatch, as far as it is asked here: `values` of each query, in pages of one timestamp. */
function cloudWatch(
  values: (query: MetricDataQuery) => readonly (readonly [second: number, value: number])[],
) {
  const asked: { readonly dashboards: string[]; readonly queries: MetricDataQuery[][] } = {
    dashboards: [],
    queries: [],
  };
  let failures = 0;
  const send = async (command: unknown): Promise<object> => {
    if (command instanceof GetDashboardCommand) {
      const { DashboardName = '' } = command.input;
      asked.dashboards.push(DashboardName);
      return { DashboardBody: bodyOf(DashboardName.endsWith('Fleet') ? fleetDashboard : clusterDashboard) };
    }
    if (!(command instanceof GetMetricDataCommand)) throw new Error('not asked for');
    if (failures-- > 0) throw new Error('Rate exceeded');
    const { MetricDataQueries = [], NextToken } = command.input;
    asked.queries.push(MetricDataQueries);
    const page = Number(NextToken ?? 0);
    const found = MetricDataQueries.map((query) => ({
      Id: query.Id,
      some: values(query).slice(page, page + 1),
    }));
    const more = MetricDataQueries.some((query) => values(query).length > page + 1);
    return {
      MetricDataResults: found.map(({ Id, some }) => ({
        Id,
        Timestamps: some.map(([at]) => new Date(at * 1000)),
        Values: some.map(([, value]) => value),
      })),
      ...(more && { NextToken: String(page + 1) }),
    };
  };
  return {
    asked,
    client: { send } as unknown as CloudWatchClient,
    fail: (times: number) => (failures = times),
  };
}

async function source(values: Parameters<typeof cloudWatch>[0]) {
  const clock = { ms: (hour + 30) * 1000 };
  const { asked, client, fail } = cloudWatch(values);
  const metrics = await cloudWatchMetrics({ client, hub: 'Shop', region: 'eu-west-1', now: () => clock.ms });
  return { metrics, asked, clock, fail };
}

it('the links to the dashboards have the names that are read, and the domain of the region', async () => {
  const { asked } = await source(() => []);
  const { cloudWatch: links, alarms } = cloudWatchLinks('Shop', 'eu-west-1');
  const home =
    'https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#dashboards/dashboard/';
  expect([links['fleet'], links['cluster']]).toEqual(asked.dashboards.map((name) => `${home}${name}`));
  expect(alarms).toBe('https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#alarmsV2:');
  expect(cloudWatchLinks('Shop', 'cn-north-1').cloudWatch['fleet']).toMatch(
    /^https:\/\/cn-north-1\.console\.amazonaws\.cn\/cloudwatch\//,
  );
});

it('the console of a deployed hub names its table and its dashboards to the page', async () => {
  const { client } = cloudWatch(() => []);
  const table = memoryTable();
  const named = { ...client, config: { region: async () => 'eu-west-1' } } as unknown as CloudWatchClient;
  const { server } = await deployedConsole(
    { table, tableName: 'Shop-snapshot-T', now: () => hour * 1000 },
    'Shop',
    0,
    named,
  );
  try {
    const answer = (await (await fetch(`${server.url}/api/dashboards`)).json()) as DashboardsAnswer;
    expect(answer.deployed).toEqual({ table: 'Shop-snapshot-T', ...cloudWatchLinks('Shop', 'eu-west-1') });
  } finally {
    server.close();
  }
});

it('the dashboards are those of the hub in its region', async () => {
  const { metrics, asked } = await source(() => []);
  expect(asked.dashboards).toEqual(['Shop-eu-west-1-Fleet', 'Shop-eu-west-1-Cluster']);
  expect(await metrics.dashboards()).toEqual([fleetDashboard, clusterDashboard]);
});

it('a widget that the deployed dashboard does not have is left out, with its queries', () => {
  const [first] = fleetDashboard.rows.flatMap((row) => row.widgets);
  const { dashboard, queries } = deployedDashboard(
    fleetDashboard,
    bodyOf(fleetDashboard, (w) => w.title !== first?.title),
  );
  const titles = dashboard.rows.flatMap((row) => row.widgets.map((w) => w.title));
  expect(titles).not.toContain(first?.title);
  expect(queries).toHaveLength(titles.length);
});

it('each value has its time, over all pages of an answer, and a minute without a value is empty', async () => {
  const { metrics } = await source(() => [
    [hour - 120, 7],
    [hour, 9],
  ]);
  const { from, period, widgets } = await metrics.series(fleetDashboard, undefined, 60);
  expect([from, period]).toEqual([hour - 59 * 60, 60]);
  const { values, newest } = widgets[0]?.[0] ?? { values: [], newest: null };
  expect([values.length, values.slice(-4), newest]).toEqual([60, [null, 7, null, 9], 9]);
});

it('a past range ends at its moment, with the periods that CloudWatch still keeps', async () => {
  const { metrics } = await source(() => []);
  const day = 24 * 3600;
  const spans = [1, 20, 100].map(async (days) => {
    const { from, period, widgets } = await metrics.series(
      fleetDashboard,
      undefined,
      60,
      (hour - days * day) * 1000,
    );
    return [period, from + (widgets[0]?.[0]?.values.length ?? 0) * period - (hour - days * day)];
  });
  expect(await Promise.all(spans)).toEqual([
    [60, 60],
    [300, 300],
    [3600, 3600],
  ]);
});

it('a chosen cluster and its queue take the places that the dashboard leaves for them', async () => {
  const { metrics, asked } = await source(() => []);
  await metrics.series(clusterDashboard, 'shop-1', 60);
  expect(asked.queries[0]?.[0]?.MetricStat?.Metric?.Dimensions).toEqual([
    { Name: 'cluster', Value: 'shop-1' },
    { Name: 'QueueName', Value: 'Shop-shop-1-events' },
  ]);
});

it('an answer is not requested again within a minute, and a failure is at once', async () => {
  const { metrics, asked, clock, fail } = await source(() => [[hour, 1]]);
  fail(1);
  await expect(metrics.series(fleetDashboard, undefined, 60)).rejects.toThrow('Rate exceeded');
  await metrics.series(fleetDashboard, undefined, 60);
  const once = asked.queries.length;
  clock.ms += 59_000;
  await metrics.series(fleetDashboard, undefined, 60);
  expect(asked.queries).toHaveLength(once);
  clock.ms += 2_000;
  await metrics.series(fleetDashboard, undefined, 60);
  expect(asked.queries).toHaveLength(2 * once);
});

it('the figures of 300 clusters are asked for in batches that CloudWatch takes', async () => {
  const { metrics, asked } = await source(({ MetricStat }) => [
    [hour - 300, MetricStat?.Stat === 'p99' ? 99 : 2],
  ]);
  const recent = await metrics.recent(Array.from({ length: 300 }, (_, i) => `c${i}`));
  expect(asked.queries.map((batch) => batch.length)).toEqual([500, 500, 200]);
  expect(recent.get('c299')).toEqual({ p50: 2, p99: 99, errors: 4 });
});
