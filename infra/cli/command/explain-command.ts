import { Command, Option } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { withOutput } from './arguments/output-option.ts';
import { withService } from './arguments/service-argument.ts';
import type { ChoiceWithHub } from './hub-explanation.ts';

type Chosen = HubChoice & ChoiceWithHub;

/** Without a hub if kubectl's connection was chosen, or if kubectl calls us and no hub was chosen. */
export const explainCommand = (isPlugin: boolean): Command => {
  const isLive = ({ kubeconfig, context, table, hub }: Chosen): boolean =>
    kubeconfig !== undefined || context !== undefined || (isPlugin && !table && !hub);
  return command(isLive);
};

const command = (isLive: (options: Chosen) => boolean): Command =>
  withOutput(withService(withHub(new Command('explain')), 'NAMESPACE/SERVICE; -n and -A list them'), [
    'wide',
    'json',
    'yaml',
    'name',
  ])
    .summary('why a service has the endpoints that it has')
    .description('Explains the endpoints of a service: why each pod is one, or isn’t.')
    .argument('[pod]', 'only this pod')
    .option('-A, --all-namespaces', 'lists the services, and what can be reached')
    .option('--at <time>', 'at 2026-03-01T14:03:00Z, 14:03 (UTC) or 20m (ago)')
    .option('--timeline <pod>', 'its way to an endpoint, step by step')
    .option('--not-ready', 'only pods and services that are not ready')
    .option('-w, --watch', 'prints again at each change')
    .option('--context <name>', 'of kubectl: asks its cluster, without a hub')
    .addOption(new Option('--kubeconfig <file>', 'the same, by this file').hideHelp())
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints explain demo-1 svc/web -n shop --at 14:03 -o json`,
    )
    .action(
      async (
        chosen: string | undefined,
        service: string | undefined,
        pod: string | undefined,
        options: Chosen,
      ) => {
        if (isLive(options)) {
          if (options.at !== undefined)
            throw new UsageError('--at needs a hub: the cluster itself keeps no history');
          const { explainByKubeconfig } = await import('./live-explanation.ts');
          return explainByKubeconfig(chosen, service, options);
        }
        const { explainByHub } = await import('./hub-explanation.ts');
        await explainByHub(await hubOf(options), [chosen, service, pod], options);
      },
    );
