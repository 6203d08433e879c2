import { Command } from 'commander';
import type { RedriveValues } from '#infra/cli/act/redrive-all.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { isJson, type OutputChoice, withJson } from './arguments/output-option.ts';

type Chosen = HubChoice & Omit<RedriveValues, 'json'> & OutputChoice;

export const redriveCommand = (): Command =>
  withJson(withHub(new Command('redrive')), 'a JSON object for each message, a line each')
    .summary('lists failed messages, and enqueues them again')
    .description('Lists parked work, dead letters and quarantined messages with their reasons.')
    .argument('[cluster]', 'only of this cluster')
    .option('--all', 'of every cluster (default without a cluster)')
    .option('--run', 'enqueues them again')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints redrive                     # looks only
  $ fleet-endpoints redrive shop-prod --run`,
    )
    .action(async (cluster: string | undefined, options: Chosen) => {
      const { redriveAll } = await import('#infra/cli/act/redrive-all.ts');
      await redriveAll(await hubOf(options), cluster, { ...options, json: isJson(options) });
    });
