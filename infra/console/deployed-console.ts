/**
 * The console of a deployed hub: the page of a local run, with data of the table and CloudWatch. It never
 * writes.
 */
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { commandClientConfig } from '#shared/aws-client-config.ts';
import { cloudWatchLinks } from './cloudwatch-links.ts';
import { cloudWatchMetrics, dollarsPerMetric } from './cloudwatch-metrics.ts';
import { apiRoutes } from './console-api.ts';
import type { MetricsSource } from './metrics-source.ts';
import { pageRoutes } from './page.ts';
import { type Console, startConsole } from './server.ts';

/** Records change each second, but each refresh costs reads of the table. */
const refreshSeconds = 15;

/**
 * Resolves to the server and a sentence about its price. Throws a UsageError if the hub's dashboards cannot
 * be read.
 */
export async function deployedConsole(
  { table, tableName, now }: Pick<Hub, 'table' | 'tableName' | 'now'>,
  hub: string,
  port: number,
  client = new CloudWatchClient(commandClientConfig),
): Promise<{ readonly server: Console; readonly price: string }> {
  const region = await client.config.region();
  const metrics = await cloudWatchMetrics({ client, hub, region, now }).catch((cause: Error) => {
    throw new UsageError(
      `the dashboards of hub ${hub} cannot be read in ${region}: ${cause.message}. --hub-name is hub.name of clusters.yaml`,
    );
  });
  const deployed = { table: tableName, ...cloudWatchLinks(hub, region) };
  const server = await startConsole(port, {
    ...pageRoutes(),
    ...apiRoutes({ metrics, table: () => table, now, refreshSeconds, deployed }),
  });
  return { server, price: await priceOf(metrics) };
}

async function priceOf(metrics: MetricsSource): Promise<string> {
  const count = (await metrics.dashboards()).map(
    ({ rows }) => rows.flatMap((r) => r.widgets.flatMap((w) => w.series)).length,
  );
  const most = Math.max(...count);
  const hourly = (most * 60 * dollarsPerMetric).toFixed(2);
  return `An open page reads up to ${most} metrics and four of each cluster from CloudWatch once a minute: about $${hourly} an hour, and $${(4 * 60 * 100 * dollarsPerMetric).toFixed(2)} for each 100 clusters.`;
}
