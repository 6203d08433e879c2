import { Command } from 'commander';
import { UsageError } from '#infra/cli/usage-error.ts';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';

export const explainCommand = (): Command =>
  withHub(new Command('explain'))
    .summary('why a service has the endpoints that it has')
    .description('Tells why a service has the endpoints that it has: of each pod, why it is an address or not.')
    .argument('[cluster]', 'its id; without one the clusters are listed')
    .argument('[service]', 'NAMESPACE/SERVICE')
    .argument('[pod]', 'this pod alone')
    .option('--json', 'the whole explanation as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints explain demo-1 shop/web
  $ fleet-endpoints explain demo-1 shop/web web-7d4b9c-x2x8k --json`,
    )
    .action(async (chosen: string | undefined, service: string | undefined, pod: string | undefined, options: HubChoice & { json?: boolean }) => {
      const [{ chosenClusters }, { explain }, { explanationLines }, { say }] = await Promise.all([
        import('#infra/cli/connect-hub.ts'),
        import('#infra/cli/explain-service.ts'),
        import('#infra/cli/explain-text.ts'),
        import('#infra/cli/printable.ts'),
      ]);
      const { table } = await hubOf(options);
      const [cluster = ''] = await chosenClusters(table, chosen, false);
      const [, namespace, name] = service?.match(/^([^/]+)\/([^/]+)$/) ?? [];
      if (!namespace || !name) throw new UsageError(`which service? NAMESPACE/SERVICE is needed, ${JSON.stringify(service ?? '')} was given`);
      const explanation = await explain(table, { cluster, namespace, name }, Date.now(), pod);
      say(...(options.json ? JSON.stringify(explanation, null, 2).split('\n') : explanationLines(explanation)));
    });
