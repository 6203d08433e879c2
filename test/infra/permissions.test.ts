import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { HubStack } from '#infra/aws/stacks/hub-stack.ts';
import { SnapshotStack } from '#infra/aws/stacks/snapshot-stack.ts';
import { parseConfig } from '#infra/config/load-config.ts';
import {
  accessKey,
  auditKey,
  clusterIndexKey,
  importerKey,
  metaKey,
  objectKey,
  queueKey,
  workKey,
} from '#shared/store/keys.ts';
import { everything } from './clusters-file.ts';
import { actionsOf, fleetOf, type Statement, statementsOf } from './fleet.ts';

const { hubTemplate, snapshotTemplate, clusterTemplate } = fleetOf();
const log = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const consume = [
  'sqs:ChangeMessageVisibility',
  'sqs:DeleteMessage',
  'sqs:GetQueueAttributes',
  'sqs:ReceiveMessage',
];
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

/** A name of 64 characters. */
const secret = (i: number): string =>
  `arn:aws:secretsmanager:eu-central-1:111122223333:secret:${`platform/production/fleet-endpoints/writer-token/cluster-${i}`.padEnd(64, '-')}-AbCdEf`;
const secretCluster = (i: number, more = ''): string => `
  - id: c${i}
    api: { url: "https://c.example.com", auth: { type: secret, secretArn: "${secret(i)}"${more} } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/relay-${i}" } }`;

describe('each function may do exactly this', () => {
  it.each([
    [
      'WorkerRole',
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
        'arc-zonal-shift:GetManagedResource',
      ],
    ],
    ['RegisterRole', [...table('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'), ...log]],
    ['SweepSchedule', ['lambda:InvokeFunction']],
    [
      'WorkerRolloutRole',
      [
        'cloudwatch:DescribeAlarms',
        'lambda:GetAlias',
        'lambda:GetProvisionedConcurrencyConfig',
        'lambda:UpdateAlias',
      ],
    ],
  ])('%s', (role, actions) => {
    expect(actionsOf(statementsOf(hubTemplate, role))).toEqual([...actions].sort());
  });

  it('no function has network rights without a VPC, nor rights to clusters that are not there', () => {
    const { hubTemplate: bare } = fleetOf(
      'hub: {}\nclusters:\n  - { id: a, relay: { identity: { type: pod-identity, clusterName: a } } }',
    );
    expect(actionsOf(statementsOf(bare, 'WorkerRole'))).toEqual(
      [
        ...table('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
        ...log,
        ...consume,
        'sqs:SendMessage',
      ].sort(),
    );
  });
});

describe('and on exactly these', () => {
  it('receives from the queues of this hub’s clusters alone', () => {
    const received = on(statementsOf(hubTemplate, 'WorkerRole'), 'sqs:ReceiveMessage');
    expect(received.match(/:Fleet-[^"]*/g)).toEqual([':Fleet-*-events', ':Fleet-*-syncs']);
  });

  it('assumes the roles, reads the secrets and asks for the audiences that are configured', () => {
    const statements = statementsOf(hubTemplate, 'WorkerRole');
    expect(on(statements, 'sts:AssumeRole')).toBe('["arn:aws:iam::444455556666:role/elsewhere"]');
    expect(on(statements, 'secretsmanager:GetSecretValue')).toBe(
      '["arn:aws:secretsmanager:eu-central-1:111122223333:secret:s-AbCdEf"]',
    );
    expect(statements.find((s) => s.Action === 'sts:GetWebIdentityToken')!.Condition).toEqual({
      'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': ['own'] },
      Null: { 'sts:IdentityTokenAudience': 'false' },
    });
  });

  it('register registers clusters without touching data of their relays', () => {
    const [statement] = statementsOf(hubTemplate, 'RegisterRole').filter((s) =>
      [s.Action].flat().includes('dynamodb:PutItem'),
    );
    expect(statement!.Condition).toEqual({
      'ForAllValues:StringLike': {
        'dynamodb:LeadingKeys': ['CLUSTER#*', 'CLUSTERS', 'IMPORTERS', 'QUEUE#*', 'ACCESS#*'],
      },
      Null: { 'dynamodb:LeadingKeys': 'false' },
    });
  });

  it('sweep may read the zonal shifts of the hub account’s clusters of EKS alone', () => {
    const [statement] = statementsOf(hubTemplate, 'SweepRole').filter((s) =>
      actionsOf([s]).includes('arc-zonal-shift:GetManagedResource'),
    );
    expect(statement?.Resource).toBe('*');
    expect(JSON.stringify(statement?.Condition)).toMatch(
      /"StringEquals":\{"arc-zonal-shift:ResourceIdentifier":.*:eks:.*:cluster\//,
    );
  });

  it.each(['WorkerRole', 'SweepRole'])(
    'the role denies %s the records of clusters’ access and of queues’ owners',
    (role) => {
      const keys = [clusterIndexKey('c'), importerKey('c'), queueKey('arn'), accessKey('c')].map(
        ({ pk }) => pk,
      );
      const denied = statementsOf(hubTemplate, role).filter(
        (s) => s.Effect === 'Deny' && actionsOf([s])[0]?.startsWith('dynamodb:'),
      );
      const patterns = denied.flatMap(
        (s) =>
          (s.Condition as { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': string[] } })[
            'ForAnyValue:StringLike'
          ]['dynamodb:LeadingKeys'],
      );
      const matches = (key: string) =>
        patterns.some((p) => (p.endsWith('*') ? key.startsWith(p.slice(0, -1)) : key === p));
      const reads = table('BatchGetItem', 'GetItem', 'Query', 'Scan');
      const allowed = statementsOf(hubTemplate, role).filter((s) => s.Effect === 'Allow');
      const writes = actionsOf(allowed).filter((a) => a.startsWith('dynamodb:') && !reads.includes(a));
      expect(actionsOf(denied)).toEqual(
        expect.arrayContaining([...table('DeleteItem', 'PutItem', 'UpdateItem'), ...writes]),
      );
      expect(keys.map(matches)).toEqual([true, true, true, true]);
      expect(
        [
          metaKey('c'),
          auditKey('c', 1),
          objectKey('c', 'Pod', 'ns', 'p'),
          workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 's' }),
        ].map(({ pk }) => matches(pk)),
      ).toEqual([false, false, false, false]);
    },
  );

  it('grants nothing by a managed policy, and no action by a star', () => {
    for (const template of [hubTemplate, snapshotTemplate, clusterTemplate('watched')]) {
      for (const role of Object.values(template.findResources('AWS::IAM::Role')))
        expect(role['Properties']).not.toHaveProperty('ManagedPolicyArns');
      for (const policy of Object.values(template.findResources('AWS::IAM::Policy'))) {
        expect(
          actionsOf(policy['Properties'].PolicyDocument.Statement).filter((a) => a.includes('*')),
        ).toEqual([]);
      }
    }
  });

  it('gives the right to network interfaces to Lambda, and not to the code that it runs', () => {
    for (const role of ['WorkerRole', 'SweepRole']) {
      const [denied] = statementsOf(hubTemplate, role).filter(
        (s) => s.Effect === 'Deny' && actionsOf([s]).includes('ec2:CreateNetworkInterface'),
      );
      expect(denied).toMatchObject({
        Resource: '*',
        Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } },
      });
      expect(actionsOf([denied!])).toEqual(network);
    }
  });

  it('reads secrets that a key of the customer’s own encrypts, with that key and through Secrets Manager alone', () => {
    const key = 'arn:aws:kms:eu-west-1:111122223333:key/1';
    const { hubTemplate: keyed } = fleetOf(`hub: {}\nclusters:${secretCluster(1, `, kmsKeyArn: "${key}"`)}`);
    for (const role of ['WorkerRole', 'SweepRole'])
      expect(statementsOf(keyed, role).filter((s) => s.Action === 'kms:Decrypt')).toEqual([
        {
          Action: 'kms:Decrypt',
          Effect: 'Allow',
          Resource: key,
          Condition: { StringEquals: { 'kms:ViaService': 'secretsmanager.eu-west-1.amazonaws.com' } },
        },
      ]);
  });

  it('uses keys of table and queues through these services, the relay that of the queues', () => {
    const arn = (name: string): string => `arn:aws:kms:eu-central-1:111122223333:key/${name}`;
    const yaml = `hub: { region: eu-central-1, encryption: { table: "${arn('table')}", queues: "${arn('queues')}", logs: "${arn('logs')}" } }\nclusters:\n  - { id: a, relay: { identity: { type: pod-identity, clusterName: a } } }`;
    const keyed = fleetOf(yaml);
    const uses = (template: Template, role: string) =>
      statementsOf(template, role)
        .filter((s) => actionsOf([s])[0]?.startsWith('kms:'))
        .map((s) => `${s.Resource} ${JSON.stringify(s.Condition)}`);
    const use = (name: string, service: string) =>
      `${arn(name)} ${JSON.stringify({ StringEquals: { 'kms:ViaService': `${service}.eu-central-1.amazonaws.com` } })}`;
    for (const role of ['WorkerRole', 'SweepRole'])
      expect(uses(keyed.hubTemplate, role)).toEqual([use('table', 'dynamodb'), use('queues', 'sqs')]);
    expect(uses(keyed.hubTemplate, 'RegisterRole')).toEqual([use('table', 'dynamodb')]);
    expect(uses(keyed.clusterTemplate('a'), 'RelayRole')).toEqual([use('queues', 'sqs')]);
    for (const template of [keyed.hubTemplate, keyed.clusterTemplate('a')])
      for (const queue of Object.values(template.findResources('AWS::SQS::Queue')))
        expect(queue['Properties'].KmsMasterKeyId).toBe(arn('queues'));
    keyed.hubTemplate.resourcePropertiesCountIs('AWS::Logs::LogGroup', { KmsKeyId: arn('logs') }, 3);
    keyed.snapshotTemplate.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      Replicas: [Match.objectLike({ SSESpecification: { KMSMasterKeyId: arn('table') } })],
    });
  });
});

describe('within what IAM lets a role have', () => {
  const sizesOf = (template: Template, type: string): number[] =>
    Object.values(template.findResources(type)).map(
      (p) => JSON.stringify(p['Properties'].PolicyDocument).length,
    );
  const attachments = (template: Template, role: string): number => {
    const own = Object.keys(template.findResources('AWS::IAM::Role')).find((id) => id.startsWith(role));
    return Object.values(template.findResources('AWS::IAM::ManagedPolicy')).filter((p) =>
      JSON.stringify(p['Properties'].Roles).includes(`"${own}"`),
    ).length;
  };
  const hubOf = (hub: string, count: number): Template => {
    const clusters = Array.from({ length: count }, (_, i) => secretCluster(i)).join('');
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const { snapshot } = new SnapshotStack(app, 'Snapshot');
    const config = parseConfig(
      'clusters.yaml',
      `hub: { lambdaConcurrencyLimit: 100000${hub} }\nclusters:${clusters}`,
    );
    return Template.fromStack(new HubStack(app, 'Hub', { config, snapshot }));
  };

  it.each([
    [400, 'one by one', ''],
    [
      1000,
      'by a pattern',
      ', access: ["arn:aws:secretsmanager:eu-central-1:111122223333:secret:platform/production/*"]',
    ],
  ])(
    'the rights of a role have room for the secrets of %i clusters with names of 64 characters, %s',
    (count, _, hub) => {
      const big = hubOf(hub, count);
      expect(Math.max(...sizesOf(big, 'AWS::IAM::Policy'))).toBeLessThan(10_240);
      expect(Math.max(0, ...sizesOf(big, 'AWS::IAM::ManagedPolicy'))).toBeLessThan(6_144);
      for (const role of ['WorkerRole', 'SweepRole']) {
        expect(attachments(big, role)).toBeLessThanOrEqual(10);
        const readable = statementsOf(big, role).flatMap((s) =>
          [s.Action].flat().includes('secretsmanager:GetSecretValue') ? [s.Resource].flat() : [],
        ) as string[];
        const covered = (arn: string) =>
          readable.some((r) => r === arn || (r.endsWith('*') && arn.startsWith(r.slice(0, -1))));
        expect(Array.from({ length: count }, (__, i) => secret(i)).filter((arn) => !covered(arn))).toEqual(
          [],
        );
      }
    },
  );

  it('a role that lacks rights by IAM’s limits is reported at once, with the solution', () => {
    expect(() => hubOf('', 1000)).toThrow(
      /fill \d+ policies, and IAM lets a role have 10: give hub\.access patterns/,
    );
  });
});

describe('the queues of a cluster', () => {
  const senders = (template: Template, queue: string): unknown[] => {
    const policies = Object.values(template.findResources('AWS::SQS::QueuePolicy')).filter((p) =>
      JSON.stringify(p['Properties'].Queues).includes(`"${queue}`),
    );
    const [only] = policies
      .flatMap((p) => p['Properties'].PolicyDocument.Statement)
      .filter((s) => s.Sid === 'OnlyTheseSend');
    expect(only).toMatchObject({ Effect: 'Deny', Action: 'sqs:SendMessage', Principal: { AWS: '*' } });
    return only.Condition.ArnNotLike['aws:PrincipalArn'];
  };
  const named = (values: readonly unknown[]): string[] =>
    values.map((v) => /(Worker|Sweep|Relay)Role/.exec(JSON.stringify(v))?.[1] ?? String(v));

  it('the queues accept messages of their relay, the hub’s functions and the listed operators only, independent of other rights in the account', () => {
    const operator =
      'arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/*/AWSReservedSSO_Platform_*';
    const { clusterTemplate: listed, hubTemplate: listedHub } = fleetOf(
      everything.replace('hub:\n', `hub:\n  operatorRoleArns: ["${operator}"]\n`),
    );
    expect(named(senders(listed('watched'), 'QueuesEvents'))).toEqual(['Relay', 'Worker', 'Sweep', operator]);
    expect(named(senders(listed('watched'), 'QueuesSyncs'))).toEqual(['Worker', 'Sweep', operator]);
    expect(named(senders(clusterTemplate('elsewhere'), 'QueuesEvents'))).toEqual([
      'arn:aws:iam::444455556666:role/elsewhere-relay',
      'Worker',
      'Sweep',
    ]);
    const ofHub = (queue: string): string[] => named(senders(listedHub, queue));
    expect([ofHub('DeadLettersParked'), ofHub('DeadLettersQuarantine')]).toEqual([
      ['Worker', operator],
      ['Worker', operator],
    ]);
  });

  it('the queues of a cluster have policies of 8 KB at most, with as many operators as may be listed', () => {
    const operators = Array.from(
      { length: 20 },
      (_, i) => `"arn:aws:iam::111122223333:role/${'x'.repeat(90)}-${i}-*"`,
    );
    const { clusterTemplate: listed } = fleetOf(
      everything.replace('hub:\n', `hub:\n  operatorRoleArns: [${operators}]\n`),
    );
    for (const policy of Object.values(listed('elsewhere').findResources('AWS::SQS::QueuePolicy')))
      expect(JSON.stringify(policy['Properties'].PolicyDocument).length).toBeLessThan(8_192);
  });
});

describe('a relay may send to the events queue of its cluster and do nothing else', () => {
  it.each(['watched', 'eks'])('%s: by a role of its own', (id) => {
    const template = clusterTemplate(id);
    const [events] = Object.keys(template.findResources('AWS::SQS::Queue')).filter((q) =>
      q.startsWith('QueuesEvents'),
    );
    expect(statementsOf(template, 'RelayRole')).toEqual([
      { Action: 'sqs:SendMessage', Effect: 'Allow', Resource: { 'Fn::GetAtt': [events, 'Arn'] } },
    ]);
  });

  it('elsewhere: by the queue’s policy, for a role that is already there', () => {
    const policies = Object.values(clusterTemplate('elsewhere').findResources('AWS::SQS::QueuePolicy'));
    const allowed = policies
      .flatMap((p) => p['Properties'].PolicyDocument.Statement)
      .filter((s) => s.Effect === 'Allow');
    expect(allowed).toEqual([
      expect.objectContaining({
        Action: 'sqs:SendMessage',
        // By its name, not by the unique id that SQS would make of a principal: the role may be deleted and
        // made again.
        Principal: { AWS: '*' },
        Condition: {
          ArnEquals: { 'aws:PrincipalArn': 'arn:aws:iam::444455556666:role/elsewhere-relay' },
          StringEquals: { 'aws:PrincipalAccount': '444455556666' },
        },
      }),
    ]);
  });

  it('the relay’s identity is that service account of that cluster, by Pod Identity', () => {
    const role = Object.values(clusterTemplate('watched').findResources('AWS::IAM::Role'))[0]!;
    const [statement] = role['Properties'].AssumeRolePolicyDocument.Statement;
    expect(statement).toMatchObject({
      Principal: { Service: 'pods.eks.amazonaws.com' },
      Action: ['sts:AssumeRole', 'sts:TagSession'],
      Condition: {
        StringEquals: {
          // With account and region: names repeat.
          'aws:RequestTag/eks-cluster-arn': {
            'Fn::Join': [
              '',
              [
                'arn:',
                { Ref: 'AWS::Partition' },
                ':eks:',
                { Ref: 'AWS::Region' },
                ':',
                { Ref: 'AWS::AccountId' },
                ':cluster/watched',
              ],
            ],
          },
          'aws:RequestTag/kubernetes-namespace': 'fleet-endpoints',
          'aws:RequestTag/kubernetes-service-account': 'relay',
        },
      },
    });
  });

  it('the relay’s identity is that service account of that cluster, by the cluster’s OIDC provider', () => {
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
