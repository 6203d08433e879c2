import { Command } from 'commander';
import type { ManifestValues } from '#infra/cli/act/relay-install.ts';

export const relayCommand = (): Command =>
  new Command('relay')
    .summary('what a cluster gets installed')
    .description(
      'Prints or writes the installation of a cluster: the manifest of its relay, or the Helm chart and its values.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints relay manifest shop-dev --quick-start > relay.yaml
  $ fleet-endpoints relay manifest shop-prod --image example.com/relay@sha256:…
  $ fleet-endpoints relay chart ./chart
  $ fleet-endpoints relay values shop-prod --image example.com/relay@sha256:…`,
    )
    .addCommand(manifest())
    .addCommand(values())
    .addCommand(chart());

const manifest = (): Command =>
  ofCluster('manifest', 'prints YAML for kubectl apply --server-side -f -')
    .option('--quick-start', 'instead: the program in a ConfigMap, on a stock Node image')
    .action(async (cluster: string, values: ManifestValues) => {
      const { manifestText } = await import('#infra/cli/act/relay-install.ts');
      process.stdout.write(manifestText(cluster, values));
    });

const values = (): Command =>
  ofCluster('values', 'prints the values of a cluster for the Helm chart').action(
    async (cluster: string, given: ManifestValues) => {
      const { chartValuesText } = await import('#infra/cli/act/relay-install.ts');
      process.stdout.write(chartValuesText(cluster, given));
    },
  );

const ofCluster = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument('<cluster>', 'its id in the clusters file')
    .option('--image <uri>', 'the image of the relay')
    .option('--clusters <file>', 'the clusters file', 'clusters.yaml')
    .option(
      '--outputs <file>',
      'what cdk deploy --outputs-file wrote; it suffices for a FleetCluster of a CDK app',
      'cdk.out/outputs.json',
    )
    .option('--queue-url <url>', "instead: output EventsQueueUrl of the cluster's stack")
    .option('--role-arn <arn>', 'with --queue-url, for the identity irsa: output RelayRoleArn')
    .option('--region <name>', 'region of the queue, if its URL lacks it');

const chart = (): Command =>
  new Command('chart')
    .description('writes the Helm chart')
    .argument('[folder]', 'where to', 'fleet-endpoints-relay')
    .action(async (folder: string) => {
      const { writeChart } = await import('#infra/cli/act/relay-install.ts');
      writeChart(folder);
      console.error(`wrote the chart into ${folder}`);
    });
