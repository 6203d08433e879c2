/** CloudWatch and DescribeTable at the SDK's wire (AWS JSON over HTTP), as far as the bill asks them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DescribeAlarmsOutput, ListMetricsOutput } from '@aws-sdk/client-cloudwatch';
import type { TableDescription } from '@aws-sdk/client-dynamodb';

export interface AwsData {
  readonly table: TableDescription;
  readonly dashboard: string;
  /** Value of each period of the metric. Undefined: CloudWatch has none. */
  readonly value: (name: string, dimensions: { readonly [name: string]: string }, period: number) => number | undefined;
  readonly metrics: (namespace: string) => ListMetricsOutput['Metrics'];
  readonly alarms: DescribeAlarmsOutput;
  /** Operation that is refused. */
  readonly refused?: string;
}

interface Query {
  readonly Id: string;
  readonly MetricStat: {
    readonly Metric: { readonly MetricName: string; readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[] };
    readonly Period: number;
  };
}

/** Parts of the inputs of different operations. */
interface Input {
  readonly Namespace: string;
  readonly StartTime: number;
  readonly EndTime: number;
  readonly MetricDataQueries: readonly Query[];
}

export async function awsServer(data: AwsData) {
  const operations: { readonly [name: string]: (input: Input) => object } = {
    DescribeTable: () => ({ Table: data.table }),
    GetDashboard: () => ({ DashboardBody: data.dashboard }),
    ListMetrics: ({ Namespace }) => ({ Metrics: data.metrics(Namespace) }),
    DescribeAlarms: () => data.alarms,
    GetMetricData: ({ StartTime, EndTime, MetricDataQueries }) => ({
      MetricDataResults: MetricDataQueries.map(({ Id, MetricStat: { Metric, Period } }) => {
        const dimensions = Object.fromEntries(Metric.Dimensions.map(({ Name, Value }) => [Name, Value]));
        const value = data.value(Metric.MetricName, dimensions, Period);
        const count = value === undefined ? 0 : (EndTime - StartTime) / Period;
        return {
          Id,
          Timestamps: Array.from({ length: count }, (_, i) => StartTime + i * Period),
          Values: Array.from({ length: count }, () => value),
        };
      }),
    }),
  };
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const input = JSON.parse((await text(request)) || '{}');
    const known = operations[operation];
    const isRefused = operation === data.refused || known === undefined;
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    const refusal = { __type: 'AccessDeniedException', message: `not authorized to perform ${operation}` };
    response.end(JSON.stringify(isRefused ? refusal : known(input)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, close: () => server.close() };
}
