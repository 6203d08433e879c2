import { type Alias, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { functionMemoryMiB } from '#shared/contract/function-memory.ts';
import { grantClusterAccess } from './cluster-access.ts';
import { workerTimeout } from './cluster-queues.ts';
import type { DeadLetters } from './dead-letters.ts';
import { HubFunction } from './function.ts';
import { acknowledgeQueuesOfAllClusters, queueOfAllClusters } from './queue-arns.ts';
import type { ReachingStageProps } from './stage-props.ts';

export interface WorkerProps extends ReachingStageProps {
  readonly deadLetters: DeadLetters;
}

/**
 * events → snapshot and runs; wake-ups → runs. A run is both controllers and their write-back. Each source has a
 * concurrency of its own in each cluster, so a backlog of wake-ups leaves the events theirs.
 */
export class Worker extends Construct {
  readonly function: HubFunction;
  readonly live: Alias;

  constructor(
    scope: Construct,
    id: string,
    { hub, table, deadLetters, clusters, access, network }: WorkerProps,
  ) {
    super(scope, id);
    this.function = new HubFunction(this, 'Worker', {
      code: 'worker',
      description: 'events of the clusters to snapshot, Endpoints and EndpointSlices',
      hub,
      table,
      // One vCPU: more memory buys nothing for one event loop.
      memoryMiB: functionMemoryMiB.worker,
      timeout: workerTimeout,
      clusterMetrics: hub.clusterMetrics,
      // Retries, waits and second looks go through its own queues, more often than the sixteen hops after which
      // Lambda stops a loop.
      recursiveLoop: RecursiveLoop.ALLOW,
      network,
    });
    this.live = this.function.makeLive();
    const queues = (['events', 'syncs'] as const).map((role) => queueOfAllClusters(this, hub.name, role));
    // Deletes: tombstones that a list has made redundant, and the records of outputs whose service is gone.
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
      queues,
      'sqs:ReceiveMessage',
      'sqs:DeleteMessage',
      'sqs:GetQueueAttributes',
      'sqs:ChangeMessageVisibility',
    );
    this.function.allow(
      [...queues, deadLetters.parked.queueArn, deadLetters.quarantine.queueArn],
      'sqs:SendMessage',
    );
    acknowledgeQueuesOfAllClusters(this.function.role, hub.name, 'events', 'syncs');
    grantClusterAccess(this.function, clusters, access);
  }
}
