import { Command, InvalidArgumentError, Option } from 'commander';
import { commandClientConfig } from '#shared/aws-client-config.ts';
import { hubNameOf } from './console-command.ts';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';
import { type OutputChoice, printingOf, withOutput } from './output-option.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly hubName?: string;
  readonly days: number;
}

export const costCommand = (): Command =>
  withOutput(withHub(new Command('cost')), ['json', 'yaml'])
    .summary('the bill of a deployed hub, from its metrics')
    .description(
      `Reads a month's metrics of a deployed hub. Prints its bill by line, the cost of
clusters, importers and runs, and the cheaper capacity. Changes nothing.`,
    )
    .addOption(new Option('--hub-name <name>', "the deployed hub's name, if its table's name does not begin with it"))
    .option('--days <number>', 'the last days, of which the bill of 30 is calculated', days, 30)
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints cost --table NAME     # the output TableName of the hub
  $ fleet-endpoints cost --table NAME --days 7`,
    )
    .action(async (chosen: Chosen) => {
      const [{ UsageError }, { CloudWatchClient }, { readUsage }, { billOf }, { billLines }, { linesAsData, printLines }, { priceBasis }] =
        await Promise.all([
          import('#infra/cli/usage-error.ts'),
          import('@aws-sdk/client-cloudwatch'),
          import('#infra/cost/read-usage.ts'),
          import('#infra/cost/bill.ts'),
          import('#infra/cost/bill-text.ts'),
          import('#infra/cli/print-answer.ts'),
          import('#infra/cost/prices.ts'),
        ]);
      const { table, hubName = hubNameOf(table ?? ''), days: of } = chosen;
      if (!table) throw new UsageError('which hub? A local run has no bill: --table or TABLE_NAME names a deployed one');
      const hub = await hubOf({ table });
      const bill = billOf(await readUsage({ hub, hubName, cloudWatch: new CloudWatchClient(commandClientConfig), env: process.env }, of));
      const printing = printingOf(chosen);
      const { format } = printing;
      if (format === 'json' || format === 'yaml')
        return printLines(linesAsData({ kind: 'Cost', hub: hubName, days: of, prices: priceBasis, ...bill }, format), printing);
      printLines(billLines(hubName, of, bill), printing);
    });

function days(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 60)
    throw new InvalidArgumentError('1 to 60 days are allowed: CloudWatch keeps values of five minutes for 63');
  return number;
}
