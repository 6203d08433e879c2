import { Command } from 'commander';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';
import { serviceOf, withService } from './service-argument.ts';

interface Chosen extends HubChoice {
  readonly since?: string;
  readonly address?: string;
  readonly pod?: string;
  readonly json?: boolean;
}

export const historyCommand = (): Command =>
  withService(withHub(new Command('history')))
    .summary('what changed a service’s endpoints, when and why')
    .description('Prints the changes of each run of a service with time and reason, oldest first.')
    .option('--since <span>', 'only the last 90s, 30m, 2h or 3d')
    .option('--address <ip>', 'only changes of this address')
    .option('--pod <name>', 'only changes of this pod')
    .option('--json', 'one line of JSON for each run')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints history demo-1 shop/web --since 2h
  $ fleet-endpoints history demo-1 shop/web --address 10.1.0.7`,
    )
    .action(async (chosen: string | undefined, service: string | undefined, options: Chosen) => {
      const [{ toldHistory }, { historyJson, historyLines }, { say }, { spanMs }] = await Promise.all([
        import('#infra/cli/history-service.ts'),
        import('#infra/cli/history-text.ts'),
        import('#infra/cli/printable.ts'),
        import('#infra/cli/when.ts'),
      ]);
      const spanOfMs = options.since === undefined ? undefined : spanMs('--since', options.since);
      const { table, now } = await hubOf(options);
      const key = await serviceOf(table, chosen, service);
      const nowMs = now();
      const sinceMs = spanOfMs === undefined ? 0 : nowMs - spanOfMs;
      const history = await toldHistory(table, key, { sinceMs, nowMs }, options);
      say(...(options.json ? historyJson(history) : historyLines(history, `${key.cluster} ${service}`)));
    });
