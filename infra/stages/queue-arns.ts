import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { clusterStackName } from '#infra/config/stack-names.ts';

/**
 * ARNs of one kind of queue of all clusters of this hub, by the names that CloudFormation generates: STACK-LOGICALID-RANDOM.
 * One statement whatever the number of clusters: a statement each would outgrow what IAM lets a role have at about twenty.
 */
export function queuesOfAllClusters(scope: Construct, hub: string, queue: 'Events' | 'Syncs'): string {
  return Stack.of(scope).formatArn({ service: 'sqs', resource: `${clusterStackName(hub, '*')}-Queues${queue}*` });
}

/** The finding of cdk-nag about it. */
export const queuesOfAllClustersFinding = (hub: string, queue: 'Events' | 'Syncs'): string =>
  `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:${clusterStackName(hub, '*')}-Queues${queue}*]`;
