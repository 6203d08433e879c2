import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { clusterStackName } from '#infra/config/stack-names.ts';
import { acknowledge } from './acknowledge-finding.ts';

/** A cluster's queues by role, for `queueNames: fixed`. Names of two clusters cannot collide: ids are lower case, and no role is the end of another one. */
export type ClusterQueueRole = 'events' | 'syncs' | 'events-dead' | 'syncs-dead';
export const fixedQueueName = (hub: string, cluster: string, role: ClusterQueueRole): string => `${hub}-${cluster}-${role}`;

/**
 * Name patterns of one kind of queue for all clusters of this hub: fixed names, and STACK-LOGICALID-RANDOM, which CloudFormation generates. One
 * statement for each cluster would exceed IAM's limit for a role at about twenty clusters.
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
