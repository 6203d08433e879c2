import { Command } from 'commander';
import { installation, packageName } from '#infra/installation.ts';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { type OutputChoice, printingOf, withOutput } from './arguments/output-option.ts';

export const doctorCommand = (): Command =>
  withOutput(withHub(new Command('doctor')), ['json', 'yaml'])
    .summary('checks credentials, table, clock, relays and versions')
    .description(
      'Checks the way from this machine to the hub, and from the hub to its clusters, on one page.\nThe exit code is 1 if a finding is wrong. Changes nothing.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ fleet-endpoints doctor --table NAME\n  $ fleet-endpoints doctor -o json',
    )
    .action(async (chosen: HubChoice & OutputChoice) => {
      const [{ examine, pageOf }, { callerArn }, { findingLines }, { linesAsData, printLines }] =
        await Promise.all([
          import('#infra/cli/ask/doctor.ts'),
          import('#infra/cli/account/caller.ts'),
          import('#infra/cli/account/account-check.ts'),
          import('#infra/cli/terminal/print-answer.ts'),
        ]);
      const findings = await examine({
        hub: await hubOf(chosen),
        identity: chosen.table ? callerArn : undefined,
        now: Date.now,
        env: process.env,
        program: `${packageName} ${installation.version}, Node ${process.version}`,
      });
      const printing = printingOf(chosen);
      const { format } = printing;
      const lines =
        format === 'json' || format === 'yaml'
          ? linesAsData(findings, format)
          : pageOf(findings).flatMap(findingLines);
      printLines(lines, printing);
      if (findings.some(({ verdict }) => verdict === 'wrong')) process.exitCode = 1;
    });
