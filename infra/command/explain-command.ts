import { Command } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';
import { type OutputChoice, printingOf, withOutput } from './output-option.ts';
import { listOf, serviceOf, withService } from './service-argument.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly at?: string;
  readonly notReady?: boolean;
  readonly watch?: boolean;
}

export const explainCommand = (): Command =>
  withOutput(withService(withHub(new Command('explain')), 'NAMESPACE/SERVICE; -n and -A list them'), [
    'wide',
    'json',
    'yaml',
    'name',
  ])
    .summary('why a service has the endpoints that it has')
    .description('Explains the endpoints of a service, and why each of its pods is an address or not.')
    .argument('[pod]', 'this pod alone')
    .option('-A, --all-namespaces', 'lists the services: ready pods, writers')
    .option('--at <time>', 'at 2026-03-01T14:03:00Z, 14:03 (UTC) or 20m (ago)')
    .option('--not-ready', 'only selected pods that are not ready')
    .option('-w, --watch', 'prints again at each change')
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
        const { table, now } = await hubOf(options);
        const printing = printingOf(options);
        const { format } = printing;
        const list = await listOf(table, chosen, service, options);
        if (list) {
          if (options.at !== undefined || options.watch)
            throw new UsageError('--at and --watch need a service: CLUSTER NAMESPACE/SERVICE');
          const { serviceListLines } = await import('#infra/cli/ask/service-list.ts');
          const { printLines } = await import('#infra/cli/terminal/print-answer.ts');
          return printLines(
            await serviceListLines(table, { ...list, isNotReadyOnly: options.notReady === true, format }),
            printing,
          );
        }
        const [
          { explainWithInput },
          { explanationData },
          { explanationLines },
          { follow },
          { linesAsData, printLines },
        ] = await Promise.all([
          import('#infra/cli/ask/explain-service.ts'),
          import('#infra/cli/ask/explanation-data.ts'),
          import('#infra/cli/ask/explain-text.ts'),
          import('#infra/cli/terminal/follow.ts'),
          import('#infra/cli/terminal/print-answer.ts'),
        ]);
        const key = await serviceOf(table, chosen, service, options.namespace);
        if (options.at !== undefined) {
          const { addressLines } = await import('./explain-at.ts');
          return printLines(
            await addressLines(table, key, { at: options.at, nowMs: now(), pod, format }),
            printing,
          );
        }
        let last = '';
        const print = async (): Promise<void> => {
          // By the hub's clock, as the times of runs are.
          const { input, explanation } = await explainWithInput(table, key, now(), pod);
          const data = explanationData(input, explanation);
          const shown = options.notReady
            ? { ...data, pods: data.pods.filter((p) => p.relation === 'selected' && !p.ready) }
            : data;
          const lines =
            format === 'name'
              ? shown.pods.map((p) => `pod/${p.name}`)
              : format === 'json' || format === 'yaml'
                ? linesAsData(shown, format)
                : explanationLines(explanation, {
                    isWide: format === 'wide' || pod !== undefined,
                    isNotReadyOnly: options.notReady === true,
                  });
          // The time of the answer alone does not count as a change.
          const text = JSON.stringify({ ...shown, time: '' });
          if (text === last) return;
          if (last !== '' && format === undefined)
            printLines(['', { text: new Date(now()).toISOString(), style: 'faint' }], printing);
          last = text;
          printLines(lines, printing);
        };
        if (options.watch) await follow(print);
        else await print();
      },
    );
