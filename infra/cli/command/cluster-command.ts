import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, Command } from 'commander';
import type { SwitchValues } from '#infra/cli/act/cluster-switches.ts';
import type { OptInOptions } from '#infra/cli/act/opt-in-switch.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { type OptIn, optIns } from '#shared/controllers/opt-in/writer.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { milliseconds } from './arguments/milliseconds.ts';
import { type OutputChoice, printingOf, withOutput } from './arguments/output-option.ts';
import { handBackCommand } from './hand-back-command.ts';
import { clusterCommands } from './wing.ts';
import { zoneCommand } from './zone-command.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly all?: boolean;
}

export const clusterCommand = (): Command => {
  const cluster = new Command('cluster')
    .summary('lists clusters, and switches what is written to them')
    .description('Lists clusters and switches them; each switch leaves an audit record.')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints cluster pause --all     # the kill switch
  $ fleet-endpoints cluster active shop-prod   # refuses with the reasons`,
    );
  for (const command of [
    list(),
    audit(),
    pause(),
    shadow(),
    active(),
    optIn(),
    zoneCommand(),
    ...clusterCommands.map((command) => command()),
    register(),
    rebuild(),
    handBackCommand('cluster '),
  ])
    cluster.addCommand(command);
  return cluster;
};

const list = (): Command =>
  withOutput(withHub(new Command('list')), ['json', 'yaml', 'name'])
    .description('mode, relay and differences')
    .option('-w, --watch', 'prints again at each change')
    .action(async ({ watch, ...choice }: Chosen & { readonly watch?: boolean }) => {
      const [{ listOfClusters }, { follow }] = await Promise.all([
        import('#infra/cli/ask/lists/cluster-list.ts'),
        import('#infra/cli/terminal/follow.ts'),
      ]);
      const print = listOfClusters(await hubOf(choice), printingOf(choice));
      if (watch) await follow(print);
      else await print();
    });

const audit = (): Command =>
  withOutput(withHub(new Command('audit')), ['json', 'yaml'])
    .description('audit records of switches')
    .argument('[cluster]', 'only of this cluster')
    .option('--all', 'of every cluster (default without a cluster)')
    .action(async (chosen: string | undefined, { all = chosen === undefined, ...choice }: Chosen) => {
      const [{ listOfAudit }, { chosenClusters }] = await Promise.all([
        import('#infra/cli/ask/lists/cluster-list.ts'),
        import('#infra/cli/hub/connect-hub.ts'),
      ]);
      const hub = await hubOf(choice);
      await listOfAudit(hub, await chosenClusters(hub.table, chosen, all), printingOf(choice));
    });

const forClusters = (name: string, description: string): Command =>
  withHub(new Command(name))
    .description(description)
    .argument('[cluster]', 'its id')
    .option('--all', 'every cluster');

const switching = (verb: 'pause' | 'shadow' | 'active', description: string): Command =>
  forClusters(verb, description)
    .option('--reason <text>', 'for the audit record')
    .action(async (chosen: string | undefined, values: SwitchValues & HubChoice) => {
      const { switchClusters } = await import('#infra/cli/act/cluster-switches.ts');
      await switchClusters(named(verb, await hubOf(values)), verb, chosen, values);
    });

const pause = (): Command => switching('pause', 'stops all writes');
const shadow = (): Command => switching('shadow', 'compares; writes only opt-ins');
const active = (): Command =>
  switching('active', 'checks, then writes')
    .option('--controllers-off', "confirms that the cluster's own two controllers are off")
    .option('--quiet-for <seconds>', 'required time without a difference in shadow mode', milliseconds)
    .option('--namespace <name>', 'namespace of the check that the own controllers are off')
    .option('--override', 'switches without the checks, and notes that in the audit record');

const optIn = (): Command =>
  withHub(new Command('opt-in'))
    .summary('lists or switches opt-in')
    .description('Lists the Services that opt in; with a mode switches the writes for them.')
    .argument('[cluster]', 'its id')
    .addArgument(new Argument('[mode]', 'what is done for them; active checks first').choices(optIns))
    .option('--reason <text>', 'for the audit record')
    .option('--override', 'switches without the checks, and notes that in the audit record')
    .option('--withdraw', 'with off: deletes our slices first')
    .option('--abandon', 'with off: lets the cluster be removed with our slices as they are')
    .option('--wait-for <seconds>', 'time to wait for a withdrawal (default: 600)', milliseconds)
    .action(
      async (
        id: string | undefined,
        mode: OptIn | undefined,
        { table, hub: chosen, ...values }: Omit<OptInOptions, 'id' | 'optIn'> & HubChoice,
      ) => {
        const [{ optInCommand }, { wakeServices }] = await Promise.all([
          import('#infra/cli/act/opt-in-switch.ts'),
          import('#infra/cli/act/cluster-switches.ts'),
        ]);
        const hub = await hubOf({ ...(table && { table }), ...(chosen && { hub: chosen }) });
        await optInCommand(hub, { ...values, id, optIn: mode }, (cluster) => wakeServices(hub, cluster));
      },
    );

const register = (): Command =>
  forClusters('register', "writes a stack's registration again")
    .option('--clusters <file>', 'the clusters file', 'clusters.yaml')
    .option('--outputs <file>', 'what cdk deploy --outputs-file wrote', 'cdk.out/outputs.json')
    .action(
      async (
        chosen: string | undefined,
        { all = false, clusters, outputs, ...choice }: Chosen & { clusters: string; outputs: string },
      ) => {
        const [{ register: registerAgain }, { say }] = await Promise.all([
          import('#infra/cli/act/register.ts'),
          import('#infra/cli/terminal/printable.ts'),
        ]);
        const hub = named('register', await hubOf(choice));
        await registerAgain(hub, {
          files: { clusters, outputs },
          chosen,
          all,
          who: userInfo().username,
          say,
        });
      },
    );

const rebuild = (): Command =>
  forClusters('rebuild', 'empties and refills its records').action(
    async (chosen: string | undefined, { all = false, ...choice }: Chosen) => {
      const [{ rebuild: rebuildClusters }, { chosenClusters }, { say }, { restartLocalRelay }] =
        await Promise.all([
          import('#infra/cli/act/rebuild.ts'),
          import('#infra/cli/hub/connect-hub.ts'),
          import('#infra/cli/terminal/printable.ts'),
          import('#infra/cli/hub/restart-local-relay.ts'),
        ]);
      const { table, now, consoleUrl } = named('rebuild', await hubOf(choice));
      const restartRelay =
        consoleUrl === undefined ? undefined : (id: string) => restartLocalRelay(consoleUrl, id);
      await rebuildClusters(
        { table, now, wait: sleep, say, who: userInfo().username, restartRelay },
        await chosenClusters(table, chosen, all),
      );
    },
  );

/** Prints the hub's name, so that the operator sees which hub a switch affects. */
function named(verb: string, hub: Hub): Hub {
  console.error(`${verb} on ${hub.name}`);
  return hub;
}
