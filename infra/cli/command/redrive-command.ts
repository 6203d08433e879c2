import { Command } from 'commander';
import type { RedriveValues } from '#infra/cli/act/redrive-all.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';

export const redriveCommand = (): Command =>
  withHub(new Command('redrive'))
    .summary('lists failed messages, and enqueues them again')
    .description('Lists parked work, dead letters and quarantined messages with their reasons.')
    .argument('[cluster]', 'of this cluster alone')
    .option('--all', 'of every cluster (default without a cluster)')
    .option('--run', 'enqueues them again')
    .option('--json', 'a JSON object for each message, a line each')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints redrive                     # looks only
  $ fleet-endpoints redrive shop-prod --run`,
    )
    .action(async (cluster: string | undefined, options: HubChoice & RedriveValues) => {
      const { redriveAll } = await import('#infra/cli/act/redrive-all.ts');
      await redriveAll(await hubOf(options), cluster, options);
    });
