/** Reads a hub's usage from CloudWatch, its table and the records of its clusters. */
import { type CloudWatchClient, ListMetricsCommand, type Metric } from '@aws-sdk/client-cloudwatch';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import type { Hub } from '#infra/cli/connect-hub.ts';
import { adviceOn, HubError } from '#infra/cli/hub-errors.ts';
import { UsageError } from '#infra/cli/usage-error.ts';
import { readDashboard, readMetrics } from '#infra/console/cloudwatch-metrics.ts';
import { deployedDashboard, type MetricQuery } from '#infra/console/dashboard-body.ts';
import { dashboardNameOf } from '#infra/monitoring/dashboard-names.ts';
import { fleetDashboard } from '#infra/monitoring/dashboards.ts';
import { type ClusterRecord, listClusters, type QueueUrls, readCluster } from '#shared/clusters/record.ts';
import { functionRoles, logGroupNameOf } from '#shared/contract/log-groups.ts';
import { metricsNamespaceOf } from '#shared/contract/metrics.ts';
import { dirtyIndex } from '#shared/contract/table-attributes.ts';
import { readAlarms } from './hub-alarms.ts';
import { type ClusterUsage, type CountedFunction, type HubUsage, stepSeconds, type TableUsage } from './hub-usage.ts';

export interface UsageDeps {
  readonly hub: Pick<Hub, 'table' | 'tableName' | 'dynamodb' | 'now'>;
  readonly hubName: string;
  readonly cloudWatch: CloudWatchClient;
  readonly env: { readonly [name: string]: string | undefined };
}

const daySeconds = 24 * 3600;

/** Throws a UsageError with the table, region and profile if AWS refuses, or has no metrics of the table. */
export async function readUsage(deps: UsageDeps, days: number): Promise<HubUsage> {
  const { hub, hubName, cloudWatch, env } = deps;
  const region = await cloudWatch.config.region();
  const where = `table ${hub.tableName}, region ${region}, profile ${env['AWS_PROFILE'] ?? 'default'}`;
  try {
    const reader = new MetricReader(cloudWatch, hub.now(), days);
    const table = await readTable(deps, reader);
    if (table.consumed.every(({ reads, writes }) => [...reads, ...writes].every((n) => n === 0)))
      throw new UsageError(`CloudWatch has no units of the last ${days} days: check --table, AWS_REGION and AWS_PROFILE`);
    const names = await functionNames(deps, region);
    const functions = await readFunctions(reader, names);
    const namespace = metricsNamespaceOf(hubName);
    const records = await registeredClusters(hub.table);
    const logGroups = functionRoles.map((role) => logGroupNameOf(hubName, role));
    const resources = new Set([hub.tableName, ...Object.values(names), ...logGroups, ...records.flatMap(({ queues }) => queueNames(queues))]);
    return {
      days,
      table,
      functions,
      logBytes: (await reader.sums(logGroups.map((LogGroupName) => query('AWS/Logs', 'IncomingBytes', { LogGroupName })))).reduce(add, 0),
      customMetrics: (await listMetrics(cloudWatch, namespace)).length,
      ...(await readAlarms(cloudWatch, { namespace, resources })),
      clusters: await readClusters(records, reader),
      writtenRuns: (await reader.sums([query(namespace, 'SyncsWritten', {})]))[0] ?? 0,
    };
  } catch (error) {
    const { name, message } = error as Error;
    const advice = error instanceof HubError ? undefined : adviceOn({ name, message }, env);
    throw new UsageError(`the usage of hub ${hubName} (${where}) cannot be read: ${advice ?? message}`);
  }
}

const add = (a: number, b: number): number => a + b;
const query = (namespace: string, name: string, dimensions: MetricQuery['dimensions'], statistic: MetricQuery['statistic'] = 'Sum'): MetricQuery => ({
  namespace,
  name,
  dimensions,
  statistic,
});

/** Reads whole steps of time, and ends with the last whole day. */
class MetricReader {
  readonly #client: CloudWatchClient;
  readonly #from: number;
  readonly #days: number;

  constructor(client: CloudWatchClient, nowMs: number, days: number) {
    this.#client = client;
    this.#days = days;
    this.#from = (Math.floor(nowMs / 1000 / daySeconds) - days) * daySeconds;
  }

  async series(queries: readonly MetricQuery[], period: number): Promise<readonly (readonly number[])[]> {
    const span = { from: this.#from, period, count: (this.#days * daySeconds) / period };
    return (await readMetrics(this.#client, queries, span)).map(({ values }) => values.map((value) => value ?? 0));
  }

  async sums(queries: readonly MetricQuery[]): Promise<readonly number[]> {
    return (await this.series(queries, daySeconds)).map((values) => values.reduce(add, 0));
  }
}

async function readTable({ hub: { dynamodb, tableName } }: UsageDeps, reader: MetricReader): Promise<TableUsage> {
  const { Table = {} } = await dynamodb.send(new DescribeTableCommand({ TableName: tableName }));
  const { TableSizeBytes = 0, BillingModeSummary, GlobalSecondaryIndexes = [] } = Table;
  const parts: readonly MetricQuery['dimensions'][] = [{ TableName: tableName }, { TableName: tableName, GlobalSecondaryIndexName: dirtyIndex.name }];
  const queriesOf = (kind: 'Consumed' | 'Provisioned', statistic: MetricQuery['statistic']): MetricQuery[] =>
    parts.flatMap((part) => ['Read', 'Write'].map((way) => query('AWS/DynamoDB', `${kind}${way}CapacityUnits`, part, statistic)));
  const [reads = [], writes = [], indexReads = [], indexWrites = []] = await reader.series(queriesOf('Consumed', 'Sum'), stepSeconds);
  const consumed = [
    { reads, writes },
    { reads: indexReads, writes: indexWrites },
  ];
  const bytes = TableSizeBytes + GlobalSecondaryIndexes.reduce((sum, { IndexSizeBytes = 0 }) => sum + IndexSizeBytes, 0);
  if (BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST') return { bytes, consumed };
  const hours = (await reader.series(queriesOf('Provisioned', 'Maximum'), 3600)).map((values) => values.reduce(add, 0));
  const [ofReads = 0, ofWrites = 0, ofIndexReads = 0, ofIndexWrites = 0] = hours;
  return { bytes, consumed, provisionedHours: { reads: ofReads + ofIndexReads, writes: ofWrites + ofIndexWrites } };
}

/** The deployed dashboard contains the names that CloudFormation generated. */
async function functionNames({ hubName, cloudWatch }: UsageDeps, region: string): Promise<{ readonly [role in CountedFunction]: string }> {
  const { dashboard, queries } = deployedDashboard(fleetDashboard, await readDashboard(cloudWatch, dashboardNameOf(hubName, region, fleetDashboard)));
  const series = dashboard.rows.flatMap((row) => row.widgets.map((widget) => widget.series));
  const nameOf = (role: CountedFunction): string => {
    for (const [w, drawn] of series.entries())
      for (const [s, one] of drawn.entries())
        if ('function' in one && one.function === role && queries[w]?.[s]?.dimensions['FunctionName'])
          return queries[w][s].dimensions['FunctionName'];
    throw new UsageError(`its dashboard names no function ${role}: --hub-name is hub.name of clusters.yaml`);
  };
  return { ingest: nameOf('ingest'), sync: nameOf('sync'), sweep: nameOf('sweep') };
}

async function readFunctions(reader: MetricReader, names: { readonly [role in CountedFunction]: string }): Promise<HubUsage['functions']> {
  const of = async (FunctionName: string): Promise<{ readonly invocations: number; readonly ms: number }> => {
    const [invocations = 0, ms = 0] = await reader.sums(['Invocations', 'Duration'].map((name) => query('AWS/Lambda', name, { FunctionName })));
    return { invocations, ms };
  };
  const [ingest, sync, sweep] = await Promise.all([of(names.ingest), of(names.sync), of(names.sweep)]);
  return { ingest, sync, sweep };
}

const queueMetrics = ['NumberOfMessagesSent', 'NumberOfMessagesReceived', 'NumberOfEmptyReceives'] as const;

type Registered = ClusterRecord & { readonly queues: QueueUrls };

async function registeredClusters(table: Hub['table']): Promise<readonly Registered[]> {
  const records = await Promise.all((await listClusters(table)).map((id) => readCluster(table, id)));
  return records.filter((record): record is Registered => record?.queues !== undefined);
}

const queueName = (url: string): string => url.split('/').at(-1) ?? '';
/** With the dead-letter queues of a cluster's own queues. */
const queueNames = ({ events, syncs, parked, quarantine }: QueueUrls): readonly string[] =>
  [events, `${events}-dead`, syncs, `${syncs}-dead`, parked, quarantine].map(queueName);

async function readClusters(records: readonly Registered[], reader: MetricReader): Promise<readonly ClusterUsage[]> {
  const sums = await reader.sums(
    records.flatMap(({ queues: { events, syncs } }) =>
      [events, syncs].flatMap((url) => queueMetrics.map((name) => query('AWS/SQS', name, { QueueName: queueName(url) }))),
    ),
  );
  return records.map((record, i) => {
    const [sent = 0, received = 0, empty = 0, syncsSent = 0, syncsReceived = 0, syncsEmpty = 0] = sums.slice(i * 6, i * 6 + 6);
    return {
      id: record.id,
      hasImports: record.clusterset.imports !== 'off',
      hasSecret: record.api?.auth.type === 'secret',
      sent: sent + syncsSent,
      received: received + syncsReceived,
      emptyReceives: empty + syncsEmpty,
    };
  });
}

async function listMetrics(client: CloudWatchClient, Namespace: string, MetricName?: string): Promise<readonly Metric[]> {
  const found: Metric[] = [];
  let NextToken: string | undefined;
  do {
    const answer = await client.send(new ListMetricsCommand({ Namespace, MetricName, NextToken }));
    found.push(...(answer.Metrics ?? []));
    NextToken = answer.NextToken;
  } while (NextToken);
  return found;
}
