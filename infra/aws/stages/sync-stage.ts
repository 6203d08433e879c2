import { type Alias, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';
import { functionMemoryMiB } from '#shared/contract/function-memory.ts';
import { grantClusterAccess } from './cluster-access.ts';
import { syncTimeout } from './cluster-queues.ts';
import type { DeadLetters } from './dead-letters.ts';
import { HubFunction, type Network } from './function.ts';
import { acknowledgeQueuesOfAllClusters, queueOfAllClusters } from './queue-arns.ts';
import type { StageProps } from './stage-props.ts';

export interface SyncProps extends StageProps {
  readonly deadLetters: DeadLetters;
  readonly clusters: readonly ClusterConfig[];
  readonly access: HubConfig['access'];
  readonly network?: Network | undefined;
}

/** wake-ups → both controllers → write-back. */
export class Sync extends Construct {
  readonly function: HubFunction;
  readonly live: Alias;

  constructor(
    scope: Construct,
    id: string,
    { hub, table, deadLetters, clusters, access, network }: SyncProps,
  ) {
    super(scope, id);
    this.function = new HubFunction(this, 'Sync', {
      code: 'sync',
      description: 'wake-ups to Endpoints and EndpointSlices of the clusters',
      hub,
      table,
      // One vCPU: more memory buys nothing for one event loop.
      memoryMiB: functionMemoryMiB.sync,
      timeout: syncTimeout,
      clusterMetrics: hub.clusterMetrics,
      // Retries and waits go through its own queue, more often than the sixteen hops after which Lambda stops
      // a loop.
      recursiveLoop: RecursiveLoop.ALLOW,
      network,
    });
    this.live = this.function.makeLive();
    const syncs = queueOfAllClusters(this, hub.name, 'syncs');
    // Deletes: the records of outputs whose service is gone.
    this.function.grantTable(
      table.tableArn,
      'GetItem',
      'BatchGetItem',
      'Query',
      'PutItem',
      'UpdateItem',
      'DeleteItem',
    );
    this.function.denyIdentity(table.tableArn);
    this.function.useKeys('table', 'queues');
    this.function.allow(
      [syncs],
      'sqs:ReceiveMessage',
      'sqs:DeleteMessage',
      'sqs:GetQueueAttributes',
      'sqs:ChangeMessageVisibility',
    );
    this.function.allow(
      [syncs, deadLetters.parked.queueArn, deadLetters.quarantine.queueArn],
      'sqs:SendMessage',
    );
    acknowledgeQueuesOfAllClusters(this.function.role, hub.name, 'syncs');
    grantClusterAccess(this.function, clusters, access);
  }
}
