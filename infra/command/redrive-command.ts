import { Command } from 'commander';
import type { RedriveValues } from '#infra/cli/redrive-all.ts';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';

export const redriveCommand = (): Command =>
  withHub(new Command('redrive'))
    .summary('what was set aside, and takes it up again')
    .description('Lists what was set aside and why: parked work, dead letters, quarantined messages.')
    .argument('[cluster]', 'of this cluster alone')
    .option('--all', 'of every cluster (default without a cluster)')
    .option('--run', 'takes it up again')
    .option('--json', 'a JSON object for each message, a line each')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints redrive                     # looks only
  $ fleet-endpoints redrive shop-prod --run`,
    )
    .action(async (cluster: string | undefined, options: HubChoice & RedriveValues) => {
      const { redriveAll } = await import('#infra/cli/redrive-all.ts');
      await redriveAll(await hubOf(options), cluster, options);
    });
