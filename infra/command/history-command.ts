import { Command } from 'commander';
import { UsageError } from '#infra/cli/usage-error.ts';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';

interface Chosen extends HubChoice {
  readonly since?: string;
  readonly address?: string;
  readonly pod?: string;
  readonly json?: boolean;
}

export const historyCommand = (): Command =>
  withHub(new Command('history'))
    .summary('what changed a service’s endpoints, when and why')
    .description('Tells what each run of a service changed, when and why, oldest first.')
    .argument('[cluster]', 'its id; without one the clusters are listed')
    .argument('[service]', 'NAMESPACE/SERVICE')
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
      const [{ chosenClusters }, { toldHistory }, { historyJson, historyLines }, { say }, { spanMs }] = await Promise.all([
        import('#infra/cli/connect-hub.ts'),
        import('#infra/cli/history-service.ts'),
        import('#infra/cli/history-text.ts'),
        import('#infra/cli/printable.ts'),
        import('#infra/cli/when.ts'),
      ]);
      const nowMs = Date.now();
      const sinceMs = options.since === undefined ? 0 : nowMs - spanMs('--since', options.since);
      const { table } = await hubOf(options);
      const [cluster = ''] = await chosenClusters(table, chosen, false);
      const [, namespace, name] = service?.match(/^([^/]+)\/([^/]+)$/) ?? [];
      if (!namespace || !name) throw new UsageError(`which service? NAMESPACE/SERVICE is needed, ${JSON.stringify(service ?? '')} was given`);
      const history = await toldHistory(table, { cluster, namespace, name }, { sinceMs, nowMs }, options);
      say(...(options.json ? historyJson(history) : historyLines(history, `${cluster} ${namespace}/${name}`)));
    });
