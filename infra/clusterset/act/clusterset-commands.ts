/** Commands and options for services across clusters. */
import { Argument, Command, Option } from 'commander';
import { type HubChoice, hubOf, withHub } from '#infra/cli/command/arguments/hub-option.ts';
import { milliseconds } from '#infra/cli/command/arguments/milliseconds.ts';
import { type Imports, importsChoices } from '#shared/clusterset/contract/clusterset-settings.ts';
import type { SetSwitchOptions } from './clusterset-member.ts';
import type { ImportsOptions } from './imports-switch.ts';

const ofSet = (name: string): Command =>
  withHub(new Command(name))
    .argument('[cluster]', 'its id')
    .option('--reason <text>', 'for the audit record')
    .option('--override', 'switches without the checks, and notes that in the audit record');

type SetValues = Omit<SetSwitchOptions, 'id'> & HubChoice;

export const importsOfCluster = (): Command =>
  ofSet('imports')
    .summary('shows or switches imports')
    .description(
      'Switches imports of Services that other clusters of the set export; without a mode shows the state.',
    )
    .addArgument(new Argument('[mode]', 'active checks first').choices(importsChoices))
    .option('--withdraw', 'with off: deletes the imports first')
    .option('--wait-for <seconds>', 'time to wait for a withdrawal (default: 600)', milliseconds)
    .action(
      async (
        id: string | undefined,
        mode: Imports | undefined,
        values: SetValues & Pick<ImportsOptions, 'withdraw' | 'waitFor'>,
      ) => {
        const [{ importsCommand }, { wakeServices }] = await Promise.all([
          import('./imports-switch.ts'),
          import('#infra/cli/act/cluster-switches.ts'),
        ]);
        const hub = await hubOf(values);
        await importsCommand(hub, { ...values, id, imports: mode }, (cluster) => wakeServices(hub, cluster));
      },
    );

export const exportsOfMember = (): Command =>
  ofSet('exports')
    .summary('shows or sets exports')
    .description('Sets the namespaces whose Services it may export; without them shows the state.')
    .argument('[namespaces]', 'all, none, or names with "," between them')
    .action(async (id: string | undefined, namespaces: string | undefined, values: SetValues) => {
      const [{ exportsCommand }, { wakeServices }] = await Promise.all([
        import('./exports-switch.ts'),
        import('#infra/cli/act/cluster-switches.ts'),
      ]);
      const hub = await hubOf(values);
      await exportsCommand(hub, { ...values, id, exports: namespaces }, (cluster) =>
        wakeServices(hub, cluster),
      );
    });

export const setOptions = (start: Command): Command =>
  start
    .addOption(new Option('--imports <switch>', 'of exports').choices(importsChoices))
    .option('--exports <namespaces>', 'NS,… that may be exported; all or none')
    .addOption(new Option('--sameness <rule>', 'who imports').choices(['labelled', 'all']))
    .option('--allow-overlap', 'clusters may share pod addresses');
