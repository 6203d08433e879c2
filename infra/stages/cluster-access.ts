import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { AuthConfig, ClusterConfig } from '#infra/config/config.ts';
import type { HubFunction } from './function.ts';
import { acknowledge } from './nag.ts';

/**
 * What a function needs to get credentials for the clusters, and no more: a presigned EKS token needs no permission unless
 * another role is to sign it. In statements of fifty, as IAM bounds the size of a policy, and the role spreads them over several.
 */
export function grantClusterAccess(fn: HubFunction, clusters: readonly ClusterConfig[]): void {
  const found = <T>(of: (auth: AuthConfig) => T | undefined): T[] => [...new Set(clusters.flatMap(({ api }) => (api && of(api.auth)) ?? []))];
  for (const arns of chunks(found((a) => (a.type === 'eks' ? a.roleArn : undefined)))) fn.allow(arns, 'sts:AssumeRole');
  for (const arns of chunks(found((a) => (a.type === 'secret' ? a.secretArn : undefined)))) fn.allow(arns, 'secretsmanager:GetSecretValue');
  for (const audiences of chunks(found((a) => (a.type === 'web-identity' ? a.audience : undefined)))) {
    fn.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['sts:GetWebIdentityToken'],
        resources: ['*'],
        conditions: { 'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': audiences } },
      }),
    );
    acknowledge(fn.role, 'AwsSolutions-IAM5[Resource::*]', 'sts:GetWebIdentityToken has no resource to name; the audience is what it is bound to');
  }
}

function chunks<T>(values: readonly T[], size = 50): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) => values.slice(i * size, (i + 1) * size));
}
