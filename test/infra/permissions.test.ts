import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '#infra/config/config.ts';
import { HubStack } from '#infra/stacks/hub-stack.ts';
import { SnapshotStack } from '#infra/stacks/snapshot-stack.ts';
import { accessKey, auditKey, clusterIndexKey, metaKey, objectKey, queueKey, workKey } from '#shared/snapshot/keys.ts';
import { actionsOf, fleetOf, type Statement, statementsOf } from './fleet.ts';

const { hubTemplate, snapshotTemplate, clusterTemplate } = fleetOf();
const log = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const consume = ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
const network = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];
const clusters = ['secretsmanager:GetSecretValue', 'sts:AssumeRole', 'sts:GetWebIdentityToken'];
const table = (...operations: string[]): string[] => operations.map((o) => `dynamodb:${o}`);

const on = (statements: readonly Statement[], action: string): string =>
  JSON.stringify(statements.filter((s) => [s.Action].flat().includes(action)).map((s) => s.Resource));

const secret = (i: number): string => `arn:aws:secretsmanager:eu-central-1:111122223333:secret:a-cluster-with-a-name-${i}-AbCdEf`;

describe('each function may do exactly this', () => {
  it.each([
    ['IngestRole', [...table('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'), ...log, ...consume, 'sqs:SendMessage']],
    [
      'SyncRole',
      [
        ...table('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
        ...network,
        ...log,
        ...consume,
        'sqs:SendMessage',
        ...clusters,
      ],
    ],
    [
      'SweepRole',
      [
        ...table('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'Scan', 'UpdateItem'),
        ...network,
        ...log,
        'sqs:SendMessage',
        ...clusters,
      ],
    ],
    ['RegisterRole', [...table('DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'), ...log]],
    ['SweepSchedule', ['lambda:InvokeFunction']],
    ['IngestRolloutRole', ['cloudwatch:DescribeAlarms', 'lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias']],
    ['SyncRolloutRole', ['cloudwatch:DescribeAlarms', 'lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias']],
  ])('%s', (role, actions) => {
    expect(actionsOf(statementsOf(hubTemplate, role))).toEqual([...actions].sort());
  });

  it('and has no network rights without a VPC, nor rights to clusters that are not there', () => {
    const { hubTemplate: bare } = fleetOf('hub: {}\nclusters:\n  - { id: a, relay: { identity: { type: pod-identity, clusterName: a } } }');
    expect(actionsOf(statementsOf(bare, 'SyncRole'))).toEqual(
      [...table('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'), ...log, ...consume, 'sqs:SendMessage'].sort(),
    );
  });
});

it('functions may send segments to X-Ray where tracing is on, and only there', () => {
  const segments = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
  const { hubTemplate: traced } = fleetOf('hub: { tracing: true }');
  traced.allResourcesProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } });
  for (const role of ['IngestRole', 'SyncRole', 'SweepRole', 'RegisterRole']) {
    expect(actionsOf(statementsOf(traced, role))).toEqual(expect.arrayContaining(segments));
    expect(actionsOf(statementsOf(hubTemplate, role))).not.toEqual(expect.arrayContaining([expect.stringMatching('xray')]));
  }
});

describe('and on exactly these', () => {
  it('receives from the queues of this hub’s clusters alone', () => {
    expect(on(statementsOf(hubTemplate, 'IngestRole'), 'sqs:ReceiveMessage')).toContain(':Fleet-cluster-*-QueuesEvents*');
    expect(on(statementsOf(hubTemplate, 'SyncRole'), 'sqs:ReceiveMessage')).toContain(':Fleet-cluster-*-QueuesSyncs*');
    expect(on(statementsOf(hubTemplate, 'SyncRole'), 'sqs:ReceiveMessage')).not.toContain('Events');
  });

  it('assumes the roles, reads the secrets and asks for the audiences that are configured', () => {
    const statements = statementsOf(hubTemplate, 'SyncRole');
    expect(on(statements, 'sts:AssumeRole')).toBe('["arn:aws:iam::444455556666:role/elsewhere"]');
    expect(on(statements, 'secretsmanager:GetSecretValue')).toBe('["arn:aws:secretsmanager:eu-central-1:111122223333:secret:s-AbCdEf"]');
    expect(statements.find((s) => s.Action === 'sts:GetWebIdentityToken')!.Condition).toEqual({
      'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': ['own'] },
    });
  });

  it('registers clusters without touching what they have told', () => {
    const [statement] = statementsOf(hubTemplate, 'RegisterRole').filter((s) => [s.Action].flat().includes('dynamodb:PutItem'));
    expect(statement!.Condition).toEqual({ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['CLUSTER#*', 'CLUSTERS', 'QUEUE#*', 'ACCESS#*'] } });
  });

  it.each(['IngestRole', 'SyncRole', 'SweepRole'])('keeps %s from the records that say where clusters are and whose queues are', (role) => {
    const keys = [clusterIndexKey('c'), queueKey('arn'), accessKey('c')].map(({ pk }) => pk);
    const denied = statementsOf(hubTemplate, role).filter((s) => s.Effect === 'Deny');
    const patterns = denied.flatMap(
      (s) => (s.Condition as { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': string[] } })['ForAnyValue:StringLike']['dynamodb:LeadingKeys'],
    );
    const matches = (key: string) => patterns.some((p) => (p.endsWith('*') ? key.startsWith(p.slice(0, -1)) : key === p));
    expect(actionsOf(denied)).toEqual(table('DeleteItem', 'PutItem', 'UpdateItem'));
    expect(keys.map(matches)).toEqual([true, true, true]);
    expect([metaKey('c'), auditKey('c', 'now'), objectKey('c', 'Pod', 'ns', 'p'), workKey('c', 'ns', 's')].map(({ pk }) => matches(pk))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('grants nothing by a managed policy, and no action by a star', () => {
    for (const template of [hubTemplate, snapshotTemplate, clusterTemplate('watched')]) {
      for (const role of Object.values(template.findResources('AWS::IAM::Role'))) expect(role['Properties']).not.toHaveProperty('ManagedPolicyArns');
      for (const policy of Object.values(template.findResources('AWS::IAM::Policy'))) {
        expect(actionsOf(policy['Properties'].PolicyDocument.Statement).filter((a) => a.includes('*'))).toEqual([]);
      }
    }
  });

  it('holds hundreds of clusters within what IAM lets a role have', () => {
    const clusters = Array.from(
      { length: 300 },
      (_, i) => `
  - id: c${i}
    api: { url: "https://c.example.com", auth: { type: secret, secretArn: "${secret(i)}" } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/relay" } }`,
    );
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const { snapshot } = new SnapshotStack(app, 'Snapshot');
    const config = parseConfig('clusters.yaml', `hub: {}\nclusters:${clusters.join('')}`);
    const big = Template.fromStack(new HubStack(app, 'Hub', { config, snapshot }));
    const sizes = (type: string): number[] =>
      Object.values(big.findResources(type)).map((p) => JSON.stringify(p['Properties'].PolicyDocument).length);
    expect(Math.max(...sizes('AWS::IAM::Policy'))).toBeLessThan(10_240);
    expect(Math.max(...sizes('AWS::IAM::ManagedPolicy'))).toBeLessThan(6144);
    expect(on(statementsOf(big, 'SyncRole'), 'secretsmanager:GetSecretValue')).toContain(secret(299));
  });
});

describe('a relay may send to the events queue of its cluster and do nothing else', () => {
  it.each(['watched', 'eks'])('%s: by a role of its own', (id) => {
    const template = clusterTemplate(id);
    const [events] = Object.keys(template.findResources('AWS::SQS::Queue')).filter((q) => q.startsWith('QueuesEvents'));
    expect(statementsOf(template, 'RelayRole')).toEqual([
      { Action: 'sqs:SendMessage', Effect: 'Allow', Resource: { 'Fn::GetAtt': [events, 'Arn'] } },
    ]);
  });

  it('elsewhere: by the queue’s policy, for a role that is already there', () => {
    const policies = Object.values(clusterTemplate('elsewhere').findResources('AWS::SQS::QueuePolicy'));
    const allowed = policies.flatMap((p) => p['Properties'].PolicyDocument.Statement).filter((s) => s.Effect === 'Allow');
    expect(allowed).toEqual([
      expect.objectContaining({ Action: 'sqs:SendMessage', Principal: { AWS: 'arn:aws:iam::444455556666:role/elsewhere-relay' } }),
    ]);
  });

  it('is that service account of that cluster, by Pod Identity', () => {
    const role = Object.values(clusterTemplate('watched').findResources('AWS::IAM::Role'))[0]!;
    const [statement] = role['Properties'].AssumeRolePolicyDocument.Statement;
    expect(statement).toMatchObject({
      Principal: { Service: 'pods.eks.amazonaws.com' },
      Action: ['sts:AssumeRole', 'sts:TagSession'],
      Condition: {
        StringEquals: {
          'aws:RequestTag/eks-cluster-name': 'watched',
          'aws:RequestTag/kubernetes-namespace': 'fleet-endpoints',
          'aws:RequestTag/kubernetes-service-account': 'relay',
        },
      },
    });
  });

  it('is that service account of that cluster, by the cluster’s OIDC provider', () => {
    const role = Object.values(clusterTemplate('eks').findResources('AWS::IAM::Role'))[0]!;
    expect(role['Properties'].AssumeRolePolicyDocument.Statement).toEqual([
      {
        Action: 'sts:AssumeRoleWithWebIdentity',
        Effect: 'Allow',
        Principal: { Federated: 'arn:aws:iam::111122223333:oidc-provider/oidc.example.com/id/A1' },
        Condition: {
          StringEquals: {
            'oidc.example.com/id/A1:sub': 'system:serviceaccount:fleet-endpoints:relay',
            'oidc.example.com/id/A1:aud': 'sts.amazonaws.com',
          },
        },
      },
    ]);
  });
});
