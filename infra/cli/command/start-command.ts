import { createRequire } from 'node:module';
import { Command, Option } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { checkedOptions, type TypedOptions } from '#infra/local/options.ts';
import { nodeForLocalRun, runWith } from '#infra/local/processes/own-node.ts';
import { optIns } from '#shared/controllers/opt-in/writer.ts';
import { startOptions } from './wing.ts';

export function startCommand(): Command {
  const start = new Command('start')
    .summary('the whole system on this machine')
    .description('Runs the whole system on this machine: table, queues, functions, relay, console.')
    .option('--clusters <n>', 'embedded clusters, 1 to 50; with exports 10')
    .option('--kubeconfig <file>', 'use a real cluster instead')
    .option(
      '--context <name>',
      'of the kubeconfig; may be repeated',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .addOption(new Option('--mode <mode>', 'compare or write').choices(['shadow', 'active']))
    .option('--controllers-off', 'the built-in ones are off; unchecked')
    .addOption(new Option('--opt-in <mode>', 'of opt-in').choices(optIns));
  for (const add of startOptions) add(start);
  return start
    .addOption(new Option('--controllers <which>', 'to run').choices(['endpoints', 'slices', 'both']))
    .option('--batch-period <seconds>', "from a pod's change to its wake-up")
    .option('--max-endpoints-per-slice <n>', 'endpoints of a slice, 1 to 1000')
    .option('--data <dir>', 'keep table and queues across restarts')
    .addOption(new Option('--profile <dir>', 'a processor profile of each process').hideHelp())
    .addOption(new Option('--port <port>', "the console's port; 0 for any").env('PORT'))
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints start --kubeconfig K --context A --context B --exports all`,
    )
    .action(async (typed: TypedOptions) => {
      const options = checkedOptions(typed);
      checkTableServer();
      const other = await nodeForLocalRun(
        process.versions.node,
        `${process.platform}-${process.arch}`,
        console.error,
      );
      if (other !== undefined) process.exit(await runWith(other, process.argv.slice(1)));
      const { start: runLocal } = await import('#infra/local/start.ts');
      await runLocal(options);
    });
}

/**
 * The table server is an optional dependency: npm leaves it out with --omit=optional, and krew installs no
 * dependency.
 */
function checkTableServer(): void {
  try {
    createRequire(import.meta.url).resolve('dynalite');
  } catch {
    throw new UsageError(
      'a local run needs the package dynalite: npm install fleet-endpoints adds it, unless --omit=optional is given',
    );
  }
}
