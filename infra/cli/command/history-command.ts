import { Command } from 'commander';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { type OutputChoice, printingOf, withOutput } from './arguments/output-option.ts';
import { serviceOf, withService } from './arguments/service-argument.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly namespace?: string;
  readonly since?: string;
  readonly address?: string;
  readonly pod?: string;
  readonly follow?: boolean;
}

export const historyCommand = (): Command =>
  withOutput(withService(withHub(new Command('history'))), ['json', 'yaml'])
    .summary('what changed a service’s endpoints, when and why')
    .description(
      'Prints what changed in the endpoints of a service, whoever wrote them: when and why, oldest first.',
    )
    .option('--since <span>', 'only the last 90s, 30m, 2h or 3d')
    .option('--address <ip>', 'only changes of this address')
    .option('--pod <name>', 'only changes of this pod')
    .option('-f, --follow', 'prints new entries as they come; json: a line for each')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints history demo-1 shop/web --since 2h
  $ fleet-endpoints history demo-1 svc/web -n shop --address 10.1.0.7 -f`,
    )
    .action(async (chosen: string | undefined, service: string | undefined, options: Chosen) => {
      const [
        { readRuns },
        { historyData, runData },
        { historyLines, runLines },
        { follow },
        { linesAsData, printLines },
        { spanMs },
      ] = await Promise.all([
        import('#infra/cli/ask/history-service.ts'),
        import('#infra/cli/ask/history-data.ts'),
        import('#infra/cli/ask/history-text.ts'),
        import('#infra/cli/terminal/follow.ts'),
        import('#infra/cli/terminal/print-answer.ts'),
        import('#infra/cli/terminal/when.ts'),
      ]);
      const spanOfMs = options.since === undefined ? undefined : spanMs('--since', options.since);
      const { table, now } = await hubOf(options);
      const key = await serviceOf(table, chosen, service, options.namespace);
      const printing = printingOf(options);
      const { format } = printing;
      const filter = { address: options.address, pod: options.pod };
      const history = (sinceMs: number) => readRuns(table, key, { sinceMs, nowMs: now() }, filter);
      const sinceMs = spanOfMs === undefined ? 0 : now() - spanOfMs;
      const first = await history(sinceMs);
      const isData = format === 'json' || format === 'yaml';
      if (!options.follow) {
        return printLines(
          isData
            ? linesAsData(historyData(key, first, filter), format)
            : historyLines(first, `${key.cluster} ${key.namespace}/${key.name}`),
          printing,
        );
      }
      let printed = Number.NEGATIVE_INFINITY;
      await follow(async () => {
        const { runs, records } = printed === Number.NEGATIVE_INFINITY ? first : await history(printed + 1);
        for (const [i, record] of records.entries()) {
          const data = runData(record, filter);
          const asData = format === 'yaml' ? ['---', ...linesAsData(data, 'yaml')] : [JSON.stringify(data)];
          const lines = isData ? asData : runLines(runs[i] as (typeof runs)[number]);
          printLines(lines, printing);
          printed = Math.max(printed, record.untilMs, (runs[i] as (typeof runs)[number]).atMs);
        }
      });
    });
