import { Command } from 'commander';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { type OutputChoice, printingOf, withOutput } from './arguments/output-option.ts';
import { serviceOf, withService } from './arguments/service-argument.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly namespace?: string;
  readonly context?: string;
}

export const optInCommand = (): Command => {
  const optIn = new Command('opt-in')
    .summary('checks a Service before it opts in')
    .description('Checks a Service before its selector is removed.')
    .addHelpText('after', '\nExamples:\n  $ fleet-endpoints opt-in check demo-1 shop/web');
  optIn.addCommand(check());
  return optIn;
};

const check = (): Command =>
  withOutput(withService(withHub(new Command('check'))), ['json', 'yaml'])
    .summary('what blocks, and what works differently')
    .description(
      'Checks what blocks the removal of the selector, and what works differently afterwards.\nThe exit code is 1 if a finding blocks. Changes nothing.',
    )
    .option('--context <name>', "kubectl's context for a deployed hub's cluster (default: the current one)")
    .addHelpText(
      'after',
      '\nExamples:\n  $ fleet-endpoints opt-in check demo-1 shop/web\n  $ kubectl endpoints opt-in check svc/web -n shop',
    )
    .action(async (chosen: string | undefined, service: string | undefined, options: Chosen) => {
      const [{ checkLines, checkOptIn }, { linesAsData, printLines }] = await Promise.all([
        import('#infra/cli/ask/opt-in/opt-in-check.ts'),
        import('#infra/cli/terminal/print-answer.ts'),
      ]);
      const hub = await hubOf(options);
      const found = await checkOptIn(
        hub,
        await serviceOf(hub.table, chosen, service, options.namespace),
        options.context,
      );
      const printing = printingOf(options);
      const { format } = printing;
      printLines(
        format === 'json' || format === 'yaml' ? linesAsData(found, format) : checkLines(found),
        printing,
      );
      if (!found.allowed) process.exitCode = 1;
    });
