import { type Alias, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { functionMemoryMiB } from '#shared/contract/function-memory.ts';
import { ingestTimeout } from './cluster-queues.ts';
import type { DeadLetters } from './dead-letters.ts';
import { HubFunction } from './function.ts';
import { acknowledgeQueuesOfAllClusters, queueOfAllClusters } from './queue-arns.ts';
import type { StageProps } from './stage-props.ts';

/**
 * events → snapshot and wake-ups. It never calls a cluster's API, so it runs outside of any VPC and without
 * credentials for clusters.
 */
export class Ingest extends Construct {
  readonly function: HubFunction;
  readonly live: Alias;

  constructor(
    scope: Construct,
    id: string,
    { hub, table, deadLetters }: StageProps & { readonly deadLetters: DeadLetters },
  ) {
    super(scope, id);
    this.function = new HubFunction(this, 'Ingest', {
      code: 'ingest',
      description: 'events of the clusters to snapshot and wake-ups',
      hub,
      table,
      memoryMiB: functionMemoryMiB.ingest,
      timeout: ingestTimeout,
      clusterMetrics: hub.clusterMetrics,
      // Entries that must wait (a second look at an output, a session in doubt) go back to the queue they
      // came from.
      recursiveLoop: RecursiveLoop.ALLOW,
    });
    this.live = this.function.makeLive();
    const [events, syncs] = [
      queueOfAllClusters(this, hub.name, 'events'),
      queueOfAllClusters(this, hub.name, 'syncs'),
    ];
    // Deletes: tombstones that a list has made redundant.
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
      [events],
      'sqs:ReceiveMessage',
      'sqs:DeleteMessage',
      'sqs:GetQueueAttributes',
      'sqs:ChangeMessageVisibility',
    );
    this.function.allow([events, syncs, deadLetters.quarantine.queueArn], 'sqs:SendMessage');
    acknowledgeQueuesOfAllClusters(this.function.role, hub.name, 'events', 'syncs');
  }
}
