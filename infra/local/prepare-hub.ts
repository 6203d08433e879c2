/** Creates the table, queues and records of a local run, as a deploy would. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type QueueUrls, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { hasSynced, missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { kinds } from '#shared/kube/types.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import type { Table } from '#shared/store/table.ts';
import type { PodRanges } from './clusters/pod-ranges.ts';
import { region, tableName } from './processes/child-specs.ts';
import { createQueues } from './queues/create-queues.ts';
import type { SetOptions } from './set-options.ts';
import { createTable } from './table/create-table.ts';
import { localParts } from './wing.ts';

export interface LocalHub {
  readonly queues: { readonly [cluster: string]: QueueUrls };
  /**
   * Returns clusters whose first lists are not applied yet. `uids` identify the clusters, because a former
   * run's data may belong to another cluster.
   */
  unsynced(uids: { readonly [cluster: string]: string }): Promise<readonly Unsynced[]>;
}

export interface Unsynced {
  readonly id: string;
  /** Number of kinds whose first list is applied. */
  readonly lists: number;
}

export interface HubOptions {
  readonly tableUrl: string;
  readonly queuesUrl: string;
  readonly clusters: readonly string[];
  readonly mode: 'active' | 'shadow';
  readonly optIn: OptIn;
  readonly clusterset: SetOptions;
  readonly podRanges: PodRanges;
  readonly settings: Partial<ClusterSettings>;
}

export async function prepareHub(options: HubOptions): Promise<LocalHub> {
  const { tableUrl, queuesUrl, clusters, mode, optIn, settings } = options;
  const common = { region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const dynamo = new DynamoDBClient({ ...common, endpoint: tableUrl });
  const sqs = new SQSClient({ ...common, endpoint: queuesUrl });
  const table = dynamoTable(dynamo, tableName);
  await createTable(dynamo, tableName);
  const made = await Promise.all(
    clusters.map(async (id) => [id, await createQueues(sqs, queuesUrl, region, id)] as const),
  );
  for (const [id, { urls, eventsArn, syncsArn }] of made) {
    await registerCluster(
      table,
      { id, mode, optIn, settings, queues: urls, eventsArn, syncsArn },
      Date.now(),
    );
    await followSwitches(table, id, options);
  }
  sqs.destroy();
  return {
    queues: Object.fromEntries(made.map(([id, { urls }]) => [id, urls])),
    async unsynced(uids) {
      const records = await Promise.all(
        clusters.map(async (id) => [id, await readCluster(table, id)] as const),
      );
      return records
        .filter(([, cluster]) => !cluster || !hasSynced(cluster) || cluster.uid !== uids[cluster.id])
        .map(([id, cluster]) => ({
          id,
          lists: cluster ? kinds.length - missingFirstLists(cluster).length : 0,
        }));
    },
  };
}

/**
 * Sets the switches from the command line. Registration keeps the switches of a cluster that the table
 * already has.
 */
async function followSwitches(
  table: Table,
  cluster: string,
  { mode, optIn, clusterset, podRanges }: HubOptions,
): Promise<void> {
  const known = await readCluster(table, cluster);
  if (known?.mode !== mode) await switchMode(table, cluster, mode, Date.now());
  if (known?.optIn !== optIn) await switchOptIn(table, cluster, optIn, Date.now());
  if (known) for (const part of localParts) await part.follow(table, known, clusterset, podRanges[cluster]);
}
