import assert from 'node:assert/strict';
import type { Step } from '#test/deploy/step.ts';
import type { LocalCloud } from '#test/support/local-cloud.ts';
import type { OwnersHub } from './owners-hub.ts';

/** Capacity of the second hub. The local cloud provisions `min`; it lacks the Application Auto Scaling that raises it. */
export const provisioned = { reads: { min: 5, max: 50 }, writes: { min: 7, max: 70 } };

interface Bill {
  readonly lines: readonly { readonly what: string; readonly dollars: number }[];
  readonly clusters: readonly { readonly id: string }[];
  readonly capacity: { readonly now: string };
}

/** `fleet-endpoints cost` of both hubs. CloudWatch gets the values of yesterday by hand: the local cloud counts invocations alone, and those of today. */
export function deployedBill(cloud: LocalCloud, first: OwnersHub, second: OwnersHub): Step {
  async function put(
    Namespace: string,
    dimensions: { readonly [name: string]: string },
    values: { readonly [metric: string]: number },
  ): Promise<void> {
    const Timestamp = (Math.floor(Date.now() / 86_400_000) - 0.5) * 86_400;
    const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
    const MetricData = Object.entries(values).map(([MetricName, Value]) => ({ MetricName, Value, Timestamp, Dimensions }));
    await cloud.call('cloudwatch', 'put_metric_data', { Namespace, MetricData });
  }

  async function billOf(hub: OwnersHub): Promise<Bill> {
    const TableName = await hub.output('TableName');
    await put('AWS/DynamoDB', { TableName }, { ConsumedWriteCapacityUnits: 1_000_000, ProvisionedWriteCapacityUnits: 7 });
    await put(
      'AWS/Lambda',
      { FunctionName: (await hub.output('SyncFunctionArn')).split(':').at(-1) ?? '' },
      { Invocations: 1_000_000, Duration: 50e6 },
    );
    await put('AWS/Logs', { LogGroupName: `${hub.name}-sync` }, { IncomingBytes: 1e9 });
    return JSON.parse(await hub.command('cost', '--hub-name', hub.name, '--days', '1', '-o', 'json'));
  }
  const line = ({ lines }: Bill, what: string): number => lines.find((one) => one.what === what)?.dollars ?? Number.NaN;

  return {
    fact: 'cost prints the bill of each hub: its own functions, logs, alarms and clusters, and its table on demand or provisioned',
    async check() {
      const bills = [await billOf(first), await billOf(second)] as const;
      assert.deepEqual(
        bills.map(({ capacity }) => capacity.now),
        ['on demand', 'provisioned'],
      );
      const { Table } = (await cloud.call('dynamodb', 'describe_table', { TableName: await second.output('TableName') })) as {
        Table: { ProvisionedThroughput: { WriteCapacityUnits: number } };
      };
      assert.equal(Table.ProvisionedThroughput.WriteCapacityUnits, provisioned.writes.min);
      const [onDemand, ofHours] = bills;
      // 30 days of a million units, and an hour of 7 units a day.
      assert.equal(line(onDemand, 'table writes').toFixed(2), (30 * 0.625).toFixed(2));
      assert.equal(line(ofHours, 'table writes').toFixed(4), (30 * 7 * 0.00065).toFixed(4));
      for (const bill of bills) {
        assert.equal(line(bill, 'Lambda, sync').toFixed(2), (30 * (50_000 * (1769 / 1024) * 13.3334e-6 + 0.2)).toFixed(2));
        assert.equal(line(bill, 'logs').toFixed(2), (30 * 0.5).toFixed(2));
      }
      assert.deepEqual(
        bills.map(({ clusters }) => clusters.map(({ id }) => id).sort()),
        [
          ['factory', 'mistaken', 'shop'],
          ['factory', 'shop'],
        ],
      );
      // Without a number CloudWatch answers fifty. The alarm of the account's concurrency names no hub.
      const { MetricAlarms } = (await cloud.call('cloudwatch', 'describe_alarms', { MaxRecords: 100 })) as {
        MetricAlarms: readonly { readonly MetricName?: string }[];
      };
      const ofHubs = MetricAlarms.filter(({ MetricName }) => MetricName !== 'ConcurrentExecutions');
      assert.equal((line(onDemand, 'alarms') + line(ofHours, 'alarms')).toFixed(2), (ofHubs.length * 0.1).toFixed(2));
    },
  };
}
