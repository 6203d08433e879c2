import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { billOf } from '#infra/cost/bill.ts';
import { billLines } from '#infra/cost/bill-text.ts';
import { type HubUsage, stepSeconds } from '#infra/cost/hub-usage.ts';
import { readUsage } from '#infra/cost/read-usage.ts';
import { breakEvenUse, onDemandDollars, provisionedDollars, scaledUnits } from '#infra/cost/table-capacity.ts';
import { fleetDashboard } from '#infra/monitoring/dashboards.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { memoryTable } from '#test/support/table-memory.ts';
import { type AwsData, awsServer } from './aws-server.ts';

const days = 30;
const steps = (days * 24 * 3600) / stepSeconds;
const constant = (unitsASecond: number): number[] => Array.from({ length: steps }, () => unitsASecond * stepSeconds);
const none = { reads: [], writes: [] };
const cluster = { id: 'a', hasImports: false, hasSecret: false, sent: 0, received: 0, emptyReceives: 0 };
const idle: HubUsage = {
  days,
  table: { bytes: 0, consumed: [none, none] },
  functions: { ingest: { invocations: 0, ms: 0 }, sync: { invocations: 0, ms: 0 }, sweep: { invocations: 0, ms: 0 } },
  logBytes: 0,
  customMetrics: 0,
  alarmMetrics: 0,
  compositeAlarms: 0,
  clusters: [],
  writtenRuns: 0,
};
const lineOf = (usage: HubUsage, what: string): number | undefined => billOf(usage).lines.find((line) => line.what === what)?.dollars;

describe('the bill', () => {
  it('each line is units by price, and days short of a month are scaled up', () => {
    const writes = constant(1);
    expect(lineOf({ ...idle, table: { bytes: 0, consumed: [{ reads: [], writes }, none] } }, 'table writes')).toBeCloseTo(2_592_000 * 0.625e-6, 6);
    const functions = { ...idle.functions, sync: { invocations: 1_000_000, ms: 50e6 } };
    expect(lineOf({ ...idle, functions }, 'Lambda, sync')).toBeCloseTo(50_000 * (1769 / 1024) * 13.3334e-6 + 0.2, 6);
    expect(lineOf({ ...idle, days: 15, functions }, 'Lambda, sync')).toBeCloseTo(2 * (50_000 * (1769 / 1024) * 13.3334e-6 + 0.2), 6);
    expect(lineOf({ ...idle, functions }, 'queues, requests with messages')).toBeCloseTo(2e6 * 0.4e-6, 6);
    expect(lineOf({ ...idle, alarmMetrics: 40, compositeAlarms: 3 }, 'alarms')).toBeCloseTo(5.5, 6);
    expect(lineOf({ ...idle, customMetrics: 11_000 }, 'metrics')).toBeCloseTo(3_100, 6);
    expect(lineOf({ ...idle, table: { bytes: 0, consumed: [none, none], provisionedHours: { reads: 0, writes: 720 } } }, 'table writes')).toBeCloseTo(
      0.468,
      6,
    );
  });

  it('load is shared out by messages, and what a cluster has of its own is not', () => {
    const usage: HubUsage = {
      ...idle,
      logBytes: 100e9,
      writtenRuns: 1_000_000,
      clusters: [
        { ...cluster, received: 300, hasSecret: true },
        { ...cluster, id: 'b', received: 100, hasImports: true },
      ],
    };
    const { clusters, millionRuns, meanImporter, meanOther } = billOf(usage);
    expect(clusters.map(({ share }) => share)).toEqual([37.5, 12.5]);
    expect((clusters[0]?.own ?? 0) - (clusters[1]?.own ?? 0)).toBeCloseTo(0.4, 6);
    expect(millionRuns).toBeCloseTo(50, 6);
    expect(meanImporter).toBeCloseTo(12.5 + (clusters[1]?.own ?? 0), 6);
    expect(meanOther).toBeCloseTo(37.5 + (clusters[0]?.own ?? 0), 6);
  });

  it('a hub without load, clusters and runs has no means and no price of a run', () => {
    const bill = billOf(idle);
    expect([bill.meanImporter, bill.meanOther, bill.millionRuns]).toEqual([undefined, undefined, undefined]);
    expect(billLines('Shop', days, bill).join('\n')).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe('the capacity', () => {
  it('both cost the same at the use of the break-even', () => {
    const unitsASecond = 1_000;
    const provisioned = provisionedDollars({ reads: 0, writes: unitsASecond / breakEvenUse.writes });
    expect(onDemandDollars({ reads: 0, writes: unitsASecond * 3600 })).toBeCloseTo(provisioned, 9);
  });

  it('auto scaling provisions for the highest step of an hour and of the hour before', () => {
    expect(scaledUnits([7, 70, 7, 7, 7, 7], 2)).toEqual([100, 100, 10]);
    expect(scaledUnits([0, 0], 2)).toEqual([1]);
  });

  it('provisioned capacity is the cheaper one for a constant load, and on demand for one burst a day', () => {
    const table = (writes: number[]): HubUsage => ({ ...idle, table: { bytes: 0, consumed: [{ reads: [], writes }, none] } });
    expect(billOf(table(constant(100))).capacity).toMatchObject({ now: 'on demand', cheaper: 'provisioned' });
    const bursts = constant(0).map((_, i) => (i % ((24 * 3600) / stepSeconds) === 0 ? 1_000 * stepSeconds : 0));
    expect(billOf(table(bursts)).capacity.cheaper).toBe('on demand');
  });
});

const dashboard = JSON.stringify({
  widgets: fleetDashboard.rows.flatMap((row) =>
    row.widgets.map((w) => ({
      properties: {
        title: w.title,
        metrics: w.series.map((s) => [
          'aws' in s ? s.aws : 'Own',
          s.label,
          'FunctionName',
          'function' in s ? `fn-${s.function}` : '-',
          { label: s.label, stat: s.statistic },
        ]),
      },
    })),
  ),
});

const stat = (Id: string, Value: string) => ({
  Id,
  MetricStat: { Metric: { Namespace: 'AWS/X', MetricName: 'X', Dimensions: [{ Name: 'N', Value }] }, Period: 60, Stat: 'Sum' },
});

const aws: AwsData = {
  table: { TableSizeBytes: 1e9, BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' } },
  dashboard,
  value(name, dimensions, period) {
    const index = dimensions['GlobalSecondaryIndexName'] !== undefined;
    if (name === 'ConsumedWriteCapacityUnits') return (index ? 2 : 7) * period;
    if (name === 'ConsumedReadCapacityUnits') return index ? undefined : 20 * period;
    if (name === 'Invocations') return dimensions['FunctionName'] === 'fn-ingest' ? 1_000 : undefined;
    if (name === 'NumberOfMessagesReceived') return dimensions['QueueName'] === 'Shop-a-events' ? 500 : undefined;
    if (name === 'IncomingBytes') return dimensions['LogGroupName'] === 'Shop-ingest' ? 1e9 : undefined;
    return undefined;
  },
  metrics: () => [{ MetricName: 'EventsIn' }, { MetricName: 'SyncLatency' }],
  // Their names are of an app's own stacks.
  alarms: {
    MetricAlarms: [
      { AlarmName: 'Platform-A', Namespace: 'FleetEndpoints/Shop', MetricName: 'SyncsLate' },
      { AlarmName: 'Platform-B', Metrics: ['Shop-a-events-dead', 'fn-sync'].map((Value, i) => stat(`m${i}`, Value)) },
      { AlarmName: 'Shop-hub-G', Metrics: [stat('m0', 'Shop-sweep')] },
      { AlarmName: 'Platform-C', Namespace: 'FleetEndpoints/Shop-2', MetricName: 'SyncsLate' },
      { AlarmName: 'Shop-hub-D', Metrics: [stat('m0', 'Other-a-events')] },
    ],
    CompositeAlarms: [
      { AlarmName: 'Platform-E', AlarmRule: 'ALARM("arn:aws:cloudwatch:eu-west-1:1:alarm:Platform-A")' },
      { AlarmName: 'Shop-hub-F', AlarmRule: 'ALARM("arn:aws:cloudwatch:eu-west-1:1:alarm:Platform-C")' },
    ],
  },
};

describe('the reading', () => {
  const open: { close(): unknown }[] = [];
  afterEach(() => open.splice(0).map((server) => server.close()));

  async function read(data: AwsData, env: { readonly [name: string]: string } = {}): Promise<HubUsage> {
    const server = await awsServer(data);
    open.push(server);
    const common = { region: 'eu-west-1', endpoint: server.endpoint, maxAttempts: 1, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
    const table = memoryTable();
    const queues = (id: string) => ({
      events: `http://sqs/1/Shop-${id}-events`,
      syncs: `http://sqs/1/Shop-${id}-syncs`,
      parked: 'http://sqs/1/p',
      quarantine: 'http://sqs/1/q',
    });
    for (const id of ['a', 'b']) await registerCluster(table, { id, mode: 'shadow', settings: {}, queues: queues(id) }, 0);
    const hub = { table, tableName: 'Shop-snapshot-T', dynamodb: new DynamoDBClient(common), now: () => Date.UTC(2026, 0, 31) };
    return readUsage({ hub, hubName: 'Shop', cloudWatch: new CloudWatchClient(common), env }, days);
  }

  it('usage is of the hub’s own table, index, functions, queues, logs, metrics and alarms', async () => {
    const usage = await read(aws);
    expect(usage.functions.ingest.invocations).toBe(30_000);
    expect(usage.logBytes).toBe(30e9);
    expect([usage.customMetrics, usage.alarmMetrics, usage.compositeAlarms]).toEqual([2, 4, 1]);
    expect(usage.clusters).toEqual([
      { ...cluster, received: 15_000 },
      { ...cluster, id: 'b' },
    ]);
    expect(billOf(usage).lines.find(({ what }) => what === 'table writes')?.dollars).toBeCloseTo(9 * 2_592_000 * 0.625e-6, 6);
    expect(billOf(usage).capacity.now).toBe('on demand');
  });

  it('a table with provisioned capacity is billed by its provisioned hours', async () => {
    const value: AwsData['value'] = (name, dimensions, period) => (name.startsWith('Provisioned') ? 10 : aws.value(name, dimensions, period));
    const usage = await read({ ...aws, table: { TableSizeBytes: 1e9 }, value });
    expect(usage.table.provisionedHours).toEqual({ reads: 2 * 10 * 720, writes: 2 * 10 * 720 });
    expect(billOf(usage).capacity.now).toBe('provisioned');
  });

  it.each(['GetMetricData', 'DescribeTable', 'GetDashboard', 'ListMetrics', 'DescribeAlarms'])(
    'a refused %s names the table, the region and the profile',
    async (refused) => {
      await expect(read({ ...aws, refused }, { AWS_PROFILE: 'audit' })).rejects.toThrow(
        new RegExp(`hub Shop \\(table Shop-snapshot-T, region eu-west-1, profile audit\\).*not authorized to perform ${refused}`),
      );
    },
  );

  it('a table without metrics is a mistake of table, region or profile', async () => {
    await expect(read({ ...aws, value: () => undefined })).rejects.toThrow(
      /table Shop-snapshot-T, region eu-west-1, profile default.*CloudWatch has no units of the last 30 days/,
    );
  });
});
