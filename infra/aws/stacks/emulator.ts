import { CfnResource, type IAspect, Lazy } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnPolicy } from 'aws-cdk-lib/aws-iam';
import { CfnQueuePolicy } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import type { Config } from '#infra/config/config.ts';

/**
 * Types that the local cloud refuses, besides alarms with metric math; test/infra asserts them on the
 * template instead.
 */
export const notOnEmulator: readonly string[] = [
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::EKS::AccessEntry',
  'AWS::EKS::PodIdentityAssociation',
  'AWS::Logs::QueryDefinition',
];

/** It has versions and aliases, and no CodeDeploy to shift from one to the next. */
export function forEmulator(config: Config): Config {
  if (config.hub.rollout === 'gradual')
    console.error('not on the local cloud: rollout gradual, so it is at-once');
  return { ...config, hub: { ...config.hub, rollout: 'at-once' } };
}

/** Fits the templates to the local cloud. The remaining resources may not refer to omitted ones. */
export function fitToEmulator(): IAspect {
  return {
    visit(node) {
      if (node instanceof CfnPolicy) fitPolicy(node);
      else if (node instanceof CfnQueuePolicy) knowSessions(node);
      else if (node instanceof CfnAlarm && node.metrics !== undefined) leaveOut(node, 'with metric math');
      else if (CfnResource.isCfnResource(node) && notOnEmulator.includes(node.cfnResourceType))
        leaveOut(node);
    },
  };
}

function leaveOut(node: CfnResource, kind = ''): void {
  (node.node.scope as IConstruct).node.tryRemoveChild(node.node.id);
  console.error(
    ['not on the local cloud:', node.cfnResourceType, kind, node.node.path].filter(Boolean).join(' '),
  );
}

const batchActions: readonly string[] = ['sqs:SendMessage', 'sqs:ChangeMessageVisibility'];

/**
 * On AWS the right to an action is the right to it ten at a time; the local cloud wants that by a name of its
 * own. Requests there do not have some keys, so a condition that the key is there would refuse all.
 */
function fitPolicy(policy: CfnPolicy): void {
  const document = policy.policyDocument;
  // Late, when references between stacks have become imports.
  policy.policyDocument = Lazy.uncachedAny({
    produce(context) {
      const { Statement, ...rest } = context.resolve(document) as {
        readonly Statement: readonly PolicyStatement[];
      };
      const withBatches = (action: string): string[] =>
        batchActions.includes(action) ? [action, `${action}Batch`] : [action];
      return {
        ...rest,
        Statement: Statement.map((s) => ({
          ...withoutKeyPresence(s),
          Action: [s.Action].flat().flatMap(withBatches),
        })),
      };
    },
  });
}

const unknownKeys = ['dynamodb:LeadingKeys', 'sts:IdentityTokenAudience'];

function withoutKeyPresence(statement: PolicyStatement): PolicyStatement {
  const { Null, ...conditions } = statement.Condition ?? {};
  return Null && unknownKeys.some((key) => key in Null) ? { ...statement, Condition: conditions } : statement;
}

/**
 * Adds the sessions of each role, and the account: on the local cloud aws:PrincipalArn of a session is the
 * session, and not its role as on AWS.
 */
function knowSessions(policy: CfnQueuePolicy): void {
  const document = policy.policyDocument;
  const account = { Ref: 'AWS::AccountId' };
  const sessionsOf = (role: unknown): object => {
    const name =
      typeof role === 'string'
        ? role.split(':role/')[1]
        : { 'Fn::Select': [1, { 'Fn::Split': [':role/', role] }] };
    return { 'Fn::Join': ['', ['arn:aws:sts::', account, ':assumed-role/', name, '/*']] };
  };
  policy.policyDocument = Lazy.uncachedAny({
    produce(context) {
      const { Statement, ...rest } = context.resolve(document) as {
        readonly Statement: readonly QueueStatement[];
      };
      const known = Statement.map((s) => {
        const roles = s.Condition?.ArnNotLike?.['aws:PrincipalArn'];
        if (!roles) return s;
        const all = [
          ...roles,
          ...roles.map(sessionsOf),
          { 'Fn::Join': ['', ['arn:aws:iam::', account, ':root']] },
        ];
        return { ...s, Condition: { ArnNotLike: { 'aws:PrincipalArn': all } } };
      });
      return { ...rest, Statement: known };
    },
  });
}

interface PolicyStatement {
  readonly Action: string | readonly string[];
  readonly Condition?: { readonly [operator: string]: object };
}

interface QueueStatement {
  readonly Condition?: { readonly ArnNotLike?: { readonly 'aws:PrincipalArn'?: readonly unknown[] } };
}
