import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge-finding.ts';

/**
 * Names of a cluster's queues by role. Each is unique: ids are without capitals, and no role is the end of
 * another.
 */
export type ClusterQueueRole = 'events' | 'syncs' | 'events-dead' | 'syncs-dead';
export const queueNameOf = (hub: string, cluster: string, role: ClusterQueueRole): string =>
  `${hub}-${cluster}-${role}`;

/**
 * One queue of each of this hub's clusters, as a pattern: one statement for each cluster would exceed IAM's
 * limit for a role at about twenty.
 */
export const queueOfAllClusters = (scope: Construct, hub: string, role: ClusterQueueRole): string =>
  Stack.of(scope).formatArn({ service: 'sqs', resource: queueNameOf(hub, '*', role) });

/** The findings of cdk-nag about them. */
export function acknowledgeQueuesOfAllClusters(
  role: Construct,
  hub: string,
  ...roles: readonly ('events' | 'syncs')[]
): void {
  for (const name of roles.map((queue) => queueNameOf(hub, '*', queue))) {
    const finding = `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:${name}]`;
    acknowledge(role, finding, 'the queues of this hub’s clusters, whose stacks come and go');
  }
}
