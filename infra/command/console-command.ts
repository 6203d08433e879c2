import { Command, Option } from 'commander';

export const consoleCommand = (): Command =>
  new Command('console')
    .summary('the address of the console of a local run')
    .description('Prints the address of the console of a local run: dashboards, fleet, and why a pod is an address.')
    .addOption(new Option('--hub <pid>', 'one of several local runs, by its process id').env('HUB'))
    .option('--json', 'as JSON: {"url": …}')
    .addHelpText('after', '\nExample:\n  $ fleet-endpoints console')
    .action(async ({ hub, json }: { readonly hub?: string; readonly json?: boolean }) => {
      const { localAddresses } = await import('#infra/cli/connect-hub.ts');
      const { consoleUrl } = localAddresses(hub || undefined);
      console.log(json ? JSON.stringify({ url: consoleUrl }) : consoleUrl);
    });
