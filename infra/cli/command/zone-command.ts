/** `cluster zone`: lists the zones of clusters, or sends traffic away from one for a time. */
import { Argument, Command } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { type OutputChoice, printingOf, withOutput } from './arguments/output-option.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly all?: boolean;
  readonly for: string;
  readonly reason?: string;
}

export const zoneCommand = (): Command =>
  withOutput(withHub(new Command('zone')), ['json', 'yaml'])
    .summary('lists zones, or moves traffic away')
    .description('Lists the zones; with away takes the pods of one out of the endpoints for a time.')
    .argument('[cluster]', 'its id')
    .argument('[zone]', 'name or id, as the nodes have it')
    .addArgument(new Argument('[direction]', 'of the traffic'))
    .option('--all', 'every cluster that has the zone')
    .option('--for <time>', 'until it comes back by itself, 5m to 72h', '6h')
    .option('--reason <text>', 'for the audit record')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints cluster zone shop-prod
  $ fleet-endpoints cluster zone --all euc1-az2 away --for 2h --reason INC-4711
  $ fleet-endpoints cluster zone --all euc1-az2 back`,
    )
    .action((...given: readonly [string | undefined, string | undefined, string | undefined, Chosen]) => {
      const [cluster, zone, direction, { all = false, reason = '', ...choice }] = given;
      // With --all the first word is the zone.
      const [id, ...switched] = all ? [undefined, cluster, zone] : [cluster, zone, direction];
      return run({ id, all, switched, isTooMuch: all && direction !== undefined, reason }, choice);
    });

interface Given {
  readonly id: string | undefined;
  readonly all: boolean;
  readonly switched: readonly (string | undefined)[];
  readonly isTooMuch: boolean;
  readonly reason: string;
}

async function run(
  { id, all, switched, isTooMuch, reason }: Given,
  choice: Omit<Chosen, 'all'>,
): Promise<void> {
  const [{ zoneCommand: switchZones }, { wakeServices }, { spanMs }] = await Promise.all([
    import('#infra/cli/act/zone-switch.ts'),
    import('#infra/cli/act/cluster-switches.ts'),
    import('#infra/cli/terminal/when.ts'),
  ]);
  const [zone, to] = switched;
  if (isTooMuch) throw new UsageError('--all with a cluster: one of them is needed');
  if (!all && id === undefined) throw new UsageError('a cluster or --all is needed');
  const hub = await hubOf(choice);
  const options = {
    id,
    zone,
    to: directionOf(to),
    forMs: spanMs('--for', choice.for),
    reason,
    printing: printingOf(choice),
  };
  await switchZones(hub, options, (cluster) => wakeServices(hub, cluster));
}

function directionOf(text: string | undefined): 'away' | 'back' | undefined {
  if (text === undefined || text === 'away' || text === 'back') return text;
  throw new UsageError(`${text}: away or back is needed`);
}
