/** The two ways to install a relay: a manifest for kubectl, and a Helm chart with the values of a cluster. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { ClusterConfig } from '#infra/config/config.ts';
import { type RelaySettings, relaySettingsOf } from '#infra/config/installed-relay.ts';
import { loadConfig } from '#infra/config/load-config.ts';
import { projectsToken } from '#infra/config/relay-config.ts';
import { clusterStackName } from '#infra/config/stack-names.ts';
import { builtFile, installation } from '#infra/installation.ts';
import { chartReadme } from '#infra/relay/chart-readme.ts';
import { chartTemplates } from '#infra/relay/chart-templates.ts';
import { chartValues } from '#infra/relay/chart-values.ts';
import { type RelayInstall, type RelayProgram, relayManifest } from '#infra/relay/manifest.ts';
import { toYaml } from '#infra/relay/manifest-yaml.ts';

export interface ManifestValues {
  readonly image?: string;
  readonly quickStart?: boolean;
  /** The clusters file. */
  readonly clusters: string;
  /** The file of outputs that a deploy writes. */
  readonly outputs: string;
  readonly queueUrl?: string;
  readonly roleArn?: string;
  readonly region?: string;
}

const bundleFile = builtFile('relay/relay.mjs');

/** A relay's manifest for `kubectl apply --server-side -f -`. */
export const manifestText = (clusterId: string, values: ManifestValues): string =>
  toYaml(relayManifest(installOf(clusterId, values)));

/** The values of a cluster for the Helm chart. */
export const chartValuesText = (clusterId: string, values: ManifestValues): string => {
  if (!values.image) throw new UsageError('the chart runs an image: give --image URI');
  return stringify(chartValues(installOf(clusterId, values)), {
    version: '1.1',
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
};

/** Writes the Helm chart. Its templates and its README are made here. */
export function writeChart(folder: string): void {
  const source = join(installation.root, 'infra/relay/chart-parts');
  cpSync(source, folder, { recursive: true });
  const of = (name: string): string => readFileSync(join(source, name), 'utf8');
  const readme = chartReadme(
    parse(of('Chart.yaml')),
    of('values.yaml'),
    JSON.parse(of('values.schema.json')),
  );
  for (const { path, text } of [...chartTemplates(), { path: 'README.md', text: readme }]) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function installOf(clusterId: string, values: ManifestValues): RelayInstall {
  const settings = values.queueUrl ? undefined : settingsInOutputs(clusterId, values.outputs);
  return { ...(settings ?? settingsInFile(clusterId, values)), program: program(values) };
}

/** A FleetCluster of a CDK app has them as an output, under the construct's path. */
function settingsInOutputs(clusterId: string, file: string): RelaySettings | undefined {
  const outputs = Object.values(outputsIn(file)).flatMap((stack) => Object.entries(stack));
  const settings = outputs.flatMap(([name, text]) =>
    /RelaySettings[0-9A-F]{0,8}$/.test(name) ? [JSON.parse(text) as RelaySettings] : [],
  );
  return settings.find(({ cluster }) => cluster === clusterId);
}

function settingsInFile(clusterId: string, values: ManifestValues): RelaySettings {
  if (!existsSync(values.clusters) && existsSync(values.outputs) && !values.queueUrl)
    throw new UsageError(
      `no cluster ${clusterId}: ${values.outputs} has no output RelaySettings of it, and there is no clusters file ${values.clusters}`,
    );
  const { hub, clusters } = loadConfig(values.clusters, '--clusters FILE');
  const cluster = clusters.find((c) => c.id === clusterId);
  if (!cluster)
    throw new UsageError(
      `no cluster ${clusterId} in ${values.clusters}: it has ${clusters.map((c) => c.id).join(', ') || 'none'}`,
    );
  const deployed = deployedOf(hub.name, cluster, values);
  const region =
    values.region ?? /^https?:\/\/sqs\.([a-z0-9-]+)\./.exec(deployed.eventsQueueUrl)?.[1] ?? hub.region;
  if (!region)
    throw new UsageError(
      `the queue's URL does not tell its region: give --region, or hub.region in ${values.clusters}`,
    );
  return relaySettingsOf(cluster, hub.clusterset, clusters, { ...deployed, region });
}

interface Outputs {
  readonly [stack: string]: { readonly [name: string]: string };
}

const outputsIn = (file: string): Outputs =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Outputs) : {};

function deployedOf(
  hub: string,
  cluster: ClusterConfig,
  values: ManifestValues,
): { readonly eventsQueueUrl: string; readonly roleArn: string } {
  const { identity } = cluster.relay;
  const known = identity.type === 'existing-role' ? identity.roleArn : undefined;
  if (values.queueUrl) {
    const roleArn = values.roleArn ?? known ?? '';
    if (projectsToken(cluster.relay) && !roleArn) {
      throw new UsageError(
        `the relay of ${cluster.id} has the identity ${identity.type}: give --role-arn too, output RelayRoleArn of its stack`,
      );
    }
    return { eventsQueueUrl: values.queueUrl, roleArn };
  }
  const stack = clusterStackName(hub, cluster.id);
  const outputs = outputsIn(values.outputs)[stack];
  if (!outputs?.['EventsQueueUrl'] || !outputs['RelayRoleArn']) {
    throw new UsageError(
      `${values.outputs} has no outputs of ${stack}: deploy first with --outputs-file, or give --queue-url and, for IRSA, --role-arn from the stack's outputs`,
    );
  }
  return { eventsQueueUrl: outputs['EventsQueueUrl'], roleArn: outputs['RelayRoleArn'] };
}

function program(values: ManifestValues): RelayProgram {
  if (values.image) return { image: values.image };
  if (!values.quickStart)
    throw new UsageError(
      'give --image URI (built from functions/relay/Dockerfile), or --quick-start to run the bundle on a stock Node image',
    );
  if (!existsSync(bundleFile))
    throw new UsageError(
      `there is no ${bundleFile}: it comes with the package, and in a checkout by npm run build`,
    );
  return { bundle: readFileSync(bundleFile, 'utf8') };
}
