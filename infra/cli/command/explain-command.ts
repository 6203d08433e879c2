import { Command, Option } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { printingOf, withOutput } from './arguments/output-option.ts';
import { listOf, serviceOf, withService } from './arguments/service-argument.ts';
import type { LiveChoice } from './live-explanation.ts';

interface Chosen extends HubChoice, LiveChoice {
  readonly at?: string;
}

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
    .description('Explains the endpoints of a service: why each pod is an address or not.')
    .argument('[pod]', 'this pod alone')
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
        const { table, now } = await hubOf(options);
        const printing = printingOf(options);
        const { format } = printing;
        const list = await listOf(table, chosen, service, options);
        if (list) {
          if (options.at !== undefined || options.watch || options.timeline !== undefined)
            throw new UsageError('--at, --watch and --timeline need a service: CLUSTER NAMESPACE/SERVICE');
          const { serviceListLines } = await import('#infra/cli/ask/lists/service-list.ts');
          const { printLines } = await import('#infra/cli/terminal/print-answer.ts');
          const asked = { ...list, isNotReadyOnly: options.notReady === true, now: now(), format };
          return printLines(await serviceListLines(table, asked), printing);
        }
        const [{ explainWithInput }, { explanationData }, { follow }, { printLines }, { printExplanation }] =
          await Promise.all([
            import('#infra/cli/ask/explain-service.ts'),
            import('#infra/cli/ask/explanation-data.ts'),
            import('#infra/cli/terminal/follow.ts'),
            import('#infra/cli/terminal/print-answer.ts'),
            import('./print-explanation.ts'),
          ]);
        const key = await serviceOf(table, chosen, service, options.namespace);
        if (options.timeline !== undefined) {
          const { hubTimeline } = await import('#infra/cli/ask/timeline/hub-timeline.ts');
          const { printTimeline } = await import('./print-explanation.ts');
          return printTimeline(await hubTimeline(table, key, options.timeline, now()), printing);
        }
        if (options.at !== undefined) {
          const { addressLines } = await import('./arguments/explain-at.ts');
          const asked = { at: options.at, nowMs: now(), pod, format };
          return printLines(await addressLines(table, key, asked), printing);
        }
        const shown = printExplanation({ printing, isNotReadyOnly: options.notReady === true, pod });
        const print = async (): Promise<void> => {
          // By the hub's clock, as the times of runs are.
          const { input, explanation } = await explainWithInput(table, key, now(), pod);
          shown(explanation, explanationData(input, explanation), now());
        };
        if (options.watch) await follow(print);
        else await print();
      },
    );
