/** Which hub a command is for. */
import { type Command, Option } from 'commander';
import { hubEnv } from '#shared/contract/env.ts';

export interface HubChoice {
  readonly table?: string;
  readonly hub?: string;
}

export const withHub = (command: Command): Command =>
  command
    .addOption(new Option('--table <name>', 'a deployed hub, by its table').env(hubEnv.tableName))
    .addOption(new Option('--hub <name>', 'a local run, by folder name or process id').env('HUB'));

export async function hubOf({ table, hub }: HubChoice): Promise<import('#infra/cli/hub/connect-hub.ts').Hub> {
  const { connectHub } = await import('#infra/cli/hub/connect-hub.ts');
  return connectHub({ ...(table && { [hubEnv.tableName]: table }), HUB: hub || undefined });
}
