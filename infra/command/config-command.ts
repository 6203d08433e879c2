import { Command } from 'commander';

export const configCommand = (): Command =>
  new Command('config')
    .summary('the clusters file')
    .description('The clusters file: checks it.')
    .addHelpText('after', '\nExample:\n  $ fleet-endpoints config check clusters.yaml')
    .addCommand(check());

const check = (): Command =>
  new Command('check')
    .description('tells every mistake with its line and column')
    .argument('[file]', 'the clusters file', 'clusters.yaml')
    .option('--json', 'the values as read, defaults filled in')
    .action(async (file: string, { json }: { readonly json?: boolean }) => {
      const { loadConfig } = await import('#infra/config/load-config.ts');
      const config = loadConfig(file);
      const { hub, clusters } = config;
      console.log(json ? JSON.stringify(config, null, 2) : `${file}: hub ${hub.name}, ${clusters.length} clusters, no mistakes`);
    });
