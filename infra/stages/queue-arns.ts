import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { clusterStackName } from '#infra/config/stack-names.ts';
import { acknowledge } from './acknowledge-finding.ts';

/** A cluster's queues by role; `queueNames: fixed`. No other cluster's id makes the same: ids have no capitals, and roles no common ends. */
export type ClusterQueueRole = 'events' | 'syncs' | 'events-dead' | 'syncs-dead';
export const fixedQueueName = (hub: string, cluster: string, role: ClusterQueueRole): string => `${hub}-${cluster}-${role}`;

/**
 * Names of one kind of queue of all clusters of this hub: those that are fixed, and those that CloudFormation generates, STACK-LOGICALID-RANDOM.
 * Patterns, whatever the number of clusters: one statement for each would exceed IAM's limit for a role at about twenty.
 */
const namesOfAllClusters = (hub: string, queue: 'Events' | 'Syncs'): readonly string[] => [
  `${clusterStackName(hub, '*')}-Queues${queue}*`,
  fixedQueueName(hub, '*', queue === 'Events' ? 'events' : 'syncs'),
];

export function queuesOfAllClusters(scope: Construct, hub: string, queue: 'Events' | 'Syncs'): readonly string[] {
  return namesOfAllClusters(hub, queue).map((resource) => Stack.of(scope).formatArn({ service: 'sqs', resource }));
}

/** The findings of cdk-nag about them. */
export function acknowledgeQueuesOfAllClusters(role: Construct, hub: string, ...queues: readonly ('Events' | 'Syncs')[]): void {
  for (const name of queues.flatMap((queue) => namesOfAllClusters(hub, queue))) {
    const finding = `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:${name}]`;
    acknowledge(role, finding, 'the queues of this hub’s clusters, whose stacks come and go');
  }
}
