/**
 * `fleet-endpoints cluster register`: the records that a cluster's stack has written, written again from its
 * outputs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { registrationRecord } from '#infra/aws/stages/registration-record.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { ClusterConfig, Config } from '#infra/config/config.ts';
import { loadConfig } from '#infra/config/load-config.ts';
import { clusterStackName, hubStackName } from '#infra/config/stack-names.ts';
import { recordAudit } from '#shared/clusters/audit.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { type Registration, registerCluster } from '#shared/clusters/registration.ts';
import { concurrently } from '#shared/concurrently.ts';

interface RegisterFiles {
  /** The clusters file, and what `cdk deploy --outputs-file` has written. */
  readonly clusters: string;
  readonly outputs: string;
}

type Outputs = { readonly [stack: string]: { readonly [output: string]: string } | undefined };

export interface RegisterOptions {
  readonly files: RegisterFiles;
  readonly chosen: string | undefined;
  readonly all: boolean;
  readonly who: string;
  readonly say: (line: string) => void;
}

/** Throws when all have been tried, if one could not be registered. */
export async function register(hub: Hub, { files, chosen, all, who, say }: RegisterOptions): Promise<void> {
  const config = clustersFile(files.clusters);
  const outputs = outputsFile(files.outputs);
  checkHub(hub, config, outputs, files);
  const failed: string[] = [];
  await concurrently(8, chosenOf(config, files, chosen, all), async (cluster) => {
    try {
      say(`${cluster.id}  ${await registerOne(hub, { config, outputs }, cluster, who)}`);
    } catch (error) {
      failed.push(`${cluster.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  if (failed.length > 0) throw new Error(`not registered: ${failed.join('; ')}`);
}

/** What clusters.yaml asks for, and what the deploy made of it. */
interface Deployed {
  readonly config: Config;
  readonly outputs: Outputs;
}

async function registerOne(
  hub: Hub,
  deployed: Deployed,
  cluster: ClusterConfig,
  who: string,
): Promise<string> {
  const before = await readCluster(hub.table, cluster.id);
  const left = await registerCluster(hub.table, await registrationOf(hub.sqs, deployed, cluster), hub.now());
  const what = left
    ? `${left} → ${cluster.mode} (registered again)`
    : before
      ? 'registered again, mode as it was'
      : `registered, ${cluster.mode}`;
  await recordAudit(hub.table, cluster.id, { at: new Date(hub.now()).toISOString(), who, what });
  return what;
}

async function registrationOf(
  sqs: SQSClient,
  { config, outputs }: Deployed,
  cluster: ClusterConfig,
): Promise<Registration> {
  const output = (stack: string, name: string): string => {
    const value = outputs[stack]?.[name];
    if (!value)
      throw new UsageError(`there is no output ${name} of ${stack}: cdk deploy --outputs-file writes it`);
    return value;
  };
  const { name } = config.hub;
  const [own, hub] = [clusterStackName(name, cluster.id), hubStackName(name)];
  const urls = {
    events: output(own, 'EventsQueueUrl'),
    syncs: output(own, 'SyncsQueueUrl'),
    parked: output(hub, 'ParkedQueueUrl'),
    quarantine: output(hub, 'QuarantineQueueUrl'),
  };
  const [eventsArn, syncsArn] = await Promise.all([arnOf(sqs, urls.events), arnOf(sqs, urls.syncs)]);
  return registrationRecord(cluster, config.hub, { urls, eventsArn, syncsArn }) as Registration;
}

/** Asks SQS for the ARN, so a queue that was deleted is not registered. */
async function arnOf(sqs: SQSClient, url: string): Promise<string> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] }),
  );
  if (!Attributes?.['QueueArn']) throw new Error(`queue ${url} returns no ARN`);
  return Attributes['QueueArn'];
}

function clustersFile(file: string): Config {
  try {
    return loadConfig(file, '--clusters FILE');
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function outputsFile(file: string): Outputs {
  if (!existsSync(file))
    throw new UsageError(
      `there is no ${file}: cdk deploy --outputs-file writes it, also where it has nothing to change; or give --outputs FILE`,
    );
  return JSON.parse(readFileSync(file, 'utf8')) as Outputs;
}

/** Throws a UsageError if the files are another hub's. */
function checkHub(hub: Hub, { hub: { name } }: Config, outputs: Outputs, files: RegisterFiles): void {
  const table = outputs[hubStackName(name)]?.['TableName'];
  if (table !== hub.tableName) {
    throw new UsageError(
      `${files.clusters} and ${files.outputs} belong to the hub ${name} with table ${table ?? '(not in the outputs)'}, and the command is for ${hub.name}`,
    );
  }
}

function chosenOf(
  { clusters }: Config,
  files: RegisterFiles,
  chosen: string | undefined,
  all: boolean,
): readonly ClusterConfig[] {
  const known = clusters.map((c) => c.id).join(', ') || 'none';
  if (all) return clusters;
  if (chosen === undefined) throw new UsageError(`which cluster? ${known}, or --all`);
  const found = clusters.filter((c) => c.id === chosen);
  if (found.length === 0) throw new UsageError(`no cluster ${chosen} in ${files.clusters}: it has ${known}`);
  return found;
}
