import { Aws } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ClusterConfig } from '#infra/config/config.ts';
import { acknowledge } from './acknowledge-finding.ts';
import type { HubFunction } from './function.ts';

/** Characters of a statement's list; a policy may have 6,144. */
const maxLength = 5_500;

/**
 * Lets sweep read the zonal shifts of the hub account's clusters of EKS. A cluster with a role of its own is
 * read by that role. ARC takes no ARN of EKS as the resource, only as a condition.
 */
export function grantZonalShift({ role }: HubFunction, clusters: readonly ClusterConfig[]): void {
  const arns = clusters.flatMap(({ api, settings }) => {
    const { auth } = api ?? {};
    if (auth?.type !== 'eks' || auth.roleArn !== undefined || settings.zonalShift !== 'follow') return [];
    const region = auth.region ?? Aws.REGION;
    return [`arn:${Aws.PARTITION}:eks:${region}:${Aws.ACCOUNT_ID}:cluster/${auth.clusterName}`];
  });
  if (arns.length === 0) return;
  const all = `arn:${Aws.PARTITION}:eks:*:${Aws.ACCOUNT_ID}:cluster/*`;
  const isLong = arns.join().length > maxLength;
  role.addToPolicy(
    new PolicyStatement({
      effect: Effect.ALLOW,
      actions: ['arc-zonal-shift:GetManagedResource'],
      resources: ['*'],
      conditions: isLong
        ? { StringLike: { 'arc-zonal-shift:ResourceIdentifier': all } }
        : { StringEquals: { 'arc-zonal-shift:ResourceIdentifier': arns } },
    }),
  );
  acknowledge(
    role,
    'AwsSolutions-IAM5[Resource::*]',
    'ARC takes no ARN of EKS as the resource; the condition names the clusters',
  );
}
