import { Token } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { AuthConfig, ClusterConfig, HubConfig } from '#infra/config/config.ts';
import { acknowledge } from './acknowledge-finding.ts';
import { useOfKeys } from './customer-keys.ts';
import type { HubFunction } from './function.ts';

type Access = HubConfig['access'];

/**
 * Grants exactly the rights by which a function gets credentials for the clusters. A presigned EKS token
 * needs a right only if another role signs it. The hub's patterns cover the secrets and roles that match
 * them; the others are listed.
 */
export function grantClusterAccess(
  fn: HubFunction,
  clusters: readonly ClusterConfig[],
  access: Access,
): void {
  checkRoom(clusters, access);
  grant(fn, clusters, access, access);
}

/** Grants the rights for a further cluster of the hub, whose patterns are granted already. */
export const grantAccessToOneMore = (fn: HubFunction, cluster: ClusterConfig, access: Access): void =>
  grant(fn, [cluster], access, []);

/** Throws if the rights for all clusters of a hub are more than IAM lets a role have. */
export function checkRoom(clusters: readonly ClusterConfig[], access: Access): void {
  const { roles, secrets, audiences, keys } = rightsFor(clusters, access, access);
  const policies = roles.length + secrets.length + audiences.length + keys.length;
  if (policies > maxPolicies) {
    throw new Error(
      `the clusters' secrets, roles, audiences and keys fill ${policies} policies, and IAM lets a role have ${maxPolicies}: give hub.access patterns that they are within (clusters.example.yaml)`,
    );
  }
}

/**
 * `covering`: patterns whose secrets and roles need no right of their own. `granted`: patterns that are
 * granted too.
 */
function rightsFor(clusters: readonly ClusterConfig[], covering: Access, granted: Access) {
  const found = <T>(partOf: (auth: AuthConfig) => T | undefined): T[] => [
    ...new Set(clusters.flatMap(({ api }) => (api && partOf(api.auth)) ?? [])),
  ];
  const roles = found((a) => (a.type === 'eks' ? a.roleArn : undefined));
  const secrets = found((a) => (a.type === 'secret' ? a.secretArn : undefined));
  return {
    roles: statements([...ofService(granted, 'iam'), ...outside(covering, roles)]),
    secrets: statements([...ofService(granted, 'secretsmanager'), ...outside(covering, secrets)]),
    audiences: statements(found((a) => (a.type === 'web-identity' ? a.audience : undefined))),
    keys: statements(found((a) => (a.type === 'secret' ? a.kmsKeyArn : undefined))),
  };
}

/**
 * The synthesis does not know the service of a token. A right on a resource of another service grants nothing.
 */
const ofService = (patterns: Access, service: string): readonly string[] =>
  patterns.filter((arn) => Token.isUnresolved(arn) || arn.split(':')[2] === service);

function grant(fn: HubFunction, clusters: readonly ClusterConfig[], covering: Access, granted: Access): void {
  const { roles, secrets, audiences, keys } = rightsFor(clusters, covering, granted);
  for (const arns of roles) fn.allow(arns, 'sts:AssumeRole');
  for (const arns of secrets) fn.allow(arns, 'secretsmanager:GetSecretValue');
  // A finding's id is a key of the template's metadata, and can't have a token.
  for (const pattern of granted.filter((text) => !Token.isUnresolved(text))) {
    acknowledge(
      fn.role,
      `AwsSolutions-IAM5[Resource::${pattern}]`,
      'a pattern of clusters.yaml, for more clusters than IAM has room to name',
    );
  }
  for (const arns of keys) {
    const use = { service: 'secretsmanager', actions: ['kms:Decrypt'] };
    const regionOf = (arn: string): string | undefined => arn.split(':')[3];
    for (const region of new Set(arns.map(regionOf))) {
      const ofRegion = arns.filter((arn) => regionOf(arn) === region);
      fn.role.addToPolicy(useOfKeys(fn, ofRegion, use, region));
    }
  }
  for (const values of audiences) {
    fn.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['sts:GetWebIdentityToken'],
        resources: ['*'],
        // ForAllValues holds for a request without the key too.
        conditions: {
          'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': values },
          Null: { 'sts:IdentityTokenAudience': 'false' },
        },
      }),
    );
    acknowledge(
      fn.role,
      'AwsSolutions-IAM5[Resource::*]',
      'sts:GetWebIdentityToken has no resource to name; the audience is what it is bound to',
    );
  }
}

/** IAM's quota of managed policies a role, as it is unless raised. */
const maxPolicies = 10;
/**
 * Characters of a statement's list: a managed policy may have 6,144, and the CDK can put a statement into one
 * policy only.
 */
const maxLength = 5_500;

/** Returns the ARNs that no pattern matches. */
function outside(patterns: readonly string[], arns: readonly string[]): string[] {
  const covers = (pattern: string) => {
    const literal = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    const whole = new RegExp(`^${literal.join('.*')}$`);
    return (arn: string): boolean => whole.test(arn);
  };
  return arns.filter((arn) => !patterns.some((p) => covers(p)(arn)));
}

/** Each list as long as a policy can hold. */
function statements(values: readonly string[]): string[][] {
  const lists: string[][] = [];
  let room = 0;
  for (const value of values) {
    const size = JSON.stringify(value).length + 1;
    if (size > room) {
      lists.push([]);
      room = maxLength;
    }
    lists.at(-1)?.push(value);
    room -= size;
  }
  return lists;
}
