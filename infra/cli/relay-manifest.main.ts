/** `npm run relay`: prints a relay's manifest for kubectl, or writes the templates of the chart. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ClusterConfig } from '#infra/config/config.ts';
import { loadConfig } from '#infra/config/load-config.ts';
import { projectsToken } from '#infra/config/relay-config.ts';
import { clusterStackName } from '#infra/config/stack-names.ts';
import { chartTemplates } from '#infra/relay/chart-templates.ts';
import { type RelayProgram, relayManifest } from '#infra/relay/manifest.ts';
import { toYaml } from '#infra/relay/manifest-yaml.ts';

const usage = `npm run -s relay -- manifest CLUSTER (--image URI | --quick-start)   prints YAML for kubectl apply --server-side -f -
    --clusters FILE    the clusters file (clusters.yaml)
    --outputs FILE     what npm run deploy has written (cdk.out/outputs.json)
    --queue-url URL    instead of it: the cluster's events queue, output EventsQueueUrl of its stack
    --role-arn ARN     with it, where the relay is known by irsa: output RelayRoleArn
npm run -s relay -- chart                                            writes infra/relay/chart/templates anew`;

const bundleFile = 'dist/relay/relay.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    image: { type: 'string' },
    'quick-start': { type: 'boolean' },
    clusters: { type: 'string', default: 'clusters.yaml' },
    outputs: { type: 'string', default: 'cdk.out/outputs.json' },
    'queue-url': { type: 'string' },
    'role-arn': { type: 'string' },
    region: { type: 'string' },
  },
});

// Whoever reads what we print may stop early, as head does.
process.stdout.on('error', (e: NodeJS.ErrnoException) => {
  if (e.code !== 'EPIPE') throw e;
  process.exit();
});

try {
  const [command, clusterId] = positionals;
  if (command === 'manifest' && clusterId) process.stdout.write(toYaml(relayManifest(installOf(clusterId))));
  else if (command === 'chart') writeChart();
  else throw new Error(usage);
} catch (e) {
  console.error(e instanceof Error ? e.message : e);
  process.exitCode = 1;
}

function installOf(clusterId: string): Parameters<typeof relayManifest>[0] {
  const { hub, clusters } = loadConfig(values.clusters);
  const cluster = clusters.find((c) => c.id === clusterId);
  if (!cluster) throw new Error(`no cluster ${clusterId} in ${values.clusters}: it has ${clusters.map((c) => c.id).join(', ') || 'none'}`);
  const deployed = deployedOf(hub.name, cluster);
  const region = values.region ?? /^https?:\/\/sqs\.([a-z0-9-]+)\./.exec(deployed.eventsQueueUrl)?.[1] ?? hub.region;
  if (!region) throw new Error(`the queue's URL does not tell its region: give --region, or hub.region in ${values.clusters}`);
  return {
    cluster: cluster.id,
    namespace: cluster.relay.namespace,
    eventsQueueUrl: deployed.eventsQueueUrl,
    region,
    tasks: {
      // A cluster that is to be active later has these rights from the start, unless Services opt in there instead.
      builtIn: cluster.optIn !== 'active' || cluster.mode === 'active',
      optIn: cluster.optIn === 'active',
      cleanup: cluster.optIn === 'active' && (cluster.settings.optIn?.cleanup ?? true),
    },
    outputs: cluster.mode === 'shadow' ? 'full' : 'metadata',
    replicas: cluster.relay.replicas,
    resyncSeconds: String(cluster.relay.resyncSeconds),
    ...(projectsToken(cluster.relay) && { roleArn: deployed.roleArn }),
    priorityClassName: cluster.relay.priorityClassName,
    extras: cluster.relay,
    program: program(),
  };
}

function deployedOf(hub: string, cluster: ClusterConfig): { readonly eventsQueueUrl: string; readonly roleArn: string } {
  const { identity } = cluster.relay;
  const known = identity.type === 'existing-role' ? identity.roleArn : undefined;
  if (values['queue-url']) {
    const roleArn = values['role-arn'] ?? known ?? '';
    if (projectsToken(cluster.relay) && !roleArn) {
      throw new Error(`the relay of ${cluster.id} is known by ${identity.type}: give --role-arn too, output RelayRoleArn of its stack`);
    }
    return { eventsQueueUrl: values['queue-url'], roleArn };
  }
  const stack = clusterStackName(hub, cluster.id);
  const outputs = existsSync(values.outputs)
    ? (JSON.parse(readFileSync(values.outputs, 'utf8'))[stack] as { [name: string]: string } | undefined)
    : undefined;
  if (!outputs?.['EventsQueueUrl'] || !outputs['RelayRoleArn']) {
    throw new Error(
      `${values.outputs} has no outputs of ${stack}: run npm run deploy first, or give --queue-url and, for IRSA, --role-arn from the stack's outputs`,
    );
  }
  return { eventsQueueUrl: outputs['EventsQueueUrl'], roleArn: outputs['RelayRoleArn'] };
}

function program(): RelayProgram {
  if (values.image) return { image: values.image };
  if (!values['quick-start'])
    throw new Error('give --image URI (built from functions/relay/Dockerfile), or --quick-start to run the bundle on a stock Node image');
  if (!existsSync(bundleFile)) throw new Error(`there is no ${bundleFile}: run npm run build first`);
  return { bundle: readFileSync(bundleFile, 'utf8') };
}

function writeChart(): void {
  for (const { path, text } of chartTemplates()) {
    const file = join('infra/relay/chart', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
