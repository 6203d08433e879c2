import { Command, Option } from 'commander';
import { checkedOptions, type TypedOptions } from '#infra/local/options.ts';
import { nodeForLocalRun, runWith } from '#infra/local/own-node.ts';
import { optIns } from '#shared/opt-in/writer.ts';

export const startCommand = (): Command =>
  new Command('start')
    .summary('the whole system on this machine')
    .description('Runs the whole system on this machine: table, queues, functions, relay, console.')
    .option('--clusters <n>', 'embedded clusters, 1 to 50')
    .option('--kubeconfig <file>', 'a real cluster instead')
    .option('--context <name>', 'of the kubeconfig; its current one by default')
    .addOption(new Option('--mode <mode>', 'writes or compares').choices(['shadow', 'active']))
    .addOption(new Option('--opt-in <mode>', 'for opt-ins').choices(optIns))
    .addOption(new Option('--controllers <which>', 'to run').choices(['endpoints', 'slices', 'both']))
    .option('--batch-period <seconds>', "from a pod's change to its wake-up")
    .option('--max-endpoints-per-slice <n>', '1 to 1000')
    .option('--data <dir>', 'table and queues survive a restart')
    .addOption(new Option('--port <port>', 'of the console; 0 for any').env('PORT'))
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints start --clusters 3
  $ fleet-endpoints start --kubeconfig ~/.kube/config # compares only`,
    )
    .action(async (typed: TypedOptions) => {
      const options = checkedOptions(typed);
      const other = await nodeForLocalRun(process.versions.node, `${process.platform}-${process.arch}`, console.error);
      if (other !== undefined) process.exit(await runWith(other, process.argv.slice(1)));
      const { start } = await import('#infra/local/start.ts');
      await start(options);
    });
