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

type Hub = import('#infra/cli/hub/connect-hub.ts').Hub;

/** Says which run answers if it is that of another folder and nobody has chosen it. */
export async function hubOf(choice: HubChoice): Promise<Hub> {
  const hub = await connectedHub(choice);
  if (hub.isElsewhere && !choice.hub) console.error(`from ${hub.name}`);
  return hub;
}

export async function connectedHub({ table, hub }: HubChoice): Promise<Hub> {
  const { connectHub } = await import('#infra/cli/hub/connect-hub.ts');
  return connectHub({ ...(table && { [hubEnv.tableName]: table }), HUB: hub || undefined });
}
