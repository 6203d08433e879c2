/** Props of the constructs: objects of the CDK, and values that the deploy fills in. */
import { App, CfnParameter, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { OpenIdConnectProvider, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { FleetCluster, type FleetClusterProps } from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import type { FleetHubProps } from '#infra/aws/constructs/fleet-hub-props.ts';
import { Snapshot } from '#infra/aws/stages/snapshot-table.ts';
import { configShape } from '#infra/config/config-shape.ts';
import type { Schema } from '#infra/config/schema.ts';
import { authority } from './clusters-file.ts';

process.env['CDK_VALIDATION'] = 'false';

const stackIn = (region?: string, app = new App({ context: { 'aws:cdk:bundling-stacks': [] } })): Stack =>
  new Stack(app, 'S', region === undefined ? {} : { env: { account: '111122223333', region } });
const api = { url: 'https://api.example.com' };

describe('objects of the CDK', () => {
  it('worker and sweep are in the private subnets of an IVpc, with security groups of their own or with the given ones', () => {
    const own = stackIn();
    new FleetHub(own, 'Hub', { vpc: new Vpc(own, 'Vpc') });
    const template = Template.fromStack(own);
    const inside = Object.values(
      template.findResources('AWS::Lambda::Function', { Properties: { VpcConfig: Match.anyValue() } }),
    );
    const subnets = Object.keys(template.findResources('AWS::EC2::Subnet')).filter((id) =>
      id.includes('Private'),
    );
    expect(
      inside.map(({ Properties: { VpcConfig } }) =>
        VpcConfig.SubnetIds.map(({ Ref }: { Ref: string }) => Ref),
      ),
    ).toEqual([subnets, subnets]);
    template.resourceCountIs('AWS::EC2::SecurityGroup', 2);

    const given = stackIn();
    const vpc = new Vpc(given, 'Vpc', {
      subnetConfiguration: [{ name: 'Hub', subnetType: SubnetType.PRIVATE_ISOLATED }],
      natGateways: 0,
    });
    const securityGroups = [new SecurityGroup(given, 'Group', { vpc })];
    const proxy = { httpsProxy: 'http://proxy.example.com:3128', noProxy: ['.example.com'] };
    new FleetHub(given, 'Hub', { vpc, vpcSubnets: { subnetGroupName: 'Hub' }, securityGroups, ...proxy });
    const [group] = Object.keys(Template.fromStack(given).findResources('AWS::EC2::SecurityGroup'));
    Template.fromStack(given).resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      {
        VpcConfig: { SecurityGroupIds: [{ 'Fn::GetAtt': [group, 'GroupId'] }] },
        Environment: { Variables: { HTTPS_PROXY: proxy.httpsProxy, NO_PROXY: '.example.com' } },
      },
      2,
    );
  });

  it('keys, topics, roles, secrets and an issuer of the same app come into the templates by reference', () => {
    const stack = stackIn('eu-central-1');
    const key = new Key(stack, 'Key');
    const hub = new FleetHub(stack, 'Hub', {
      encryption: { table: key, queues: key, logs: key },
      ticketTopic: new Topic(stack, 'Ticket'),
    });
    const secret = new Secret(stack, 'Secret', { encryptionKey: key });
    const oidcProvider = new OpenIdConnectProvider(stack, 'Issuer', { url: 'https://issuer.example.com' });
    const role = new Role(stack, 'Reach', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const withSecret = { ...api, auth: { type: 'secret', secret, kmsKey: key } } as const;
    new FleetCluster(stack, 'A', {
      hub,
      id: 'a',
      api: withSecret,
      relay: { identity: { type: 'irsa', oidcProvider } },
    });
    const eks = { ...api, ca: authority, auth: { type: 'eks', clusterName: 'b', role } } as const;
    new FleetCluster(stack, 'B', {
      hub,
      id: 'b',
      api: eks,
      relay: { identity: { type: 'existing-role', role } },
    });
    const template = Template.fromStack(stack);
    const arnOf = (id: string) => ({ 'Fn::GetAtt': [Match.stringLikeRegexp(`^${id}`), 'Arn'] });
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ SSESpecification: { KMSMasterKeyId: arnOf('Key') } })],
    });
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: arnOf('Key') });
    template.hasResourceProperties('AWS::Logs::LogGroup', { KmsKeyId: arnOf('Key') });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [{ Ref: Match.stringLikeRegexp('^Ticket') }],
    });
    for (const [action, resource] of [
      ['secretsmanager:GetSecretValue', { Ref: Match.stringLikeRegexp('^Secret') }],
      ['sts:AssumeRole', arnOf('Reach')],
    ] as const)
      template.hasResourceProperties('AWS::IAM::Policy', {
        PolicyDocument: {
          Statement: Match.arrayWith([Match.objectLike({ Action: action, Resource: resource })]),
        },
        Roles: [{ Ref: Match.stringLikeRegexp('^HubWorker') }],
      });
    // The issuer's claims are keys of a condition, which a template can have by a custom resource only.
    const claims = Object.values(template.findResources('Custom::AWSCDKCfnJson'))[0]?.['Properties'].Value;
    expect(JSON.stringify(claims)).toContain(':sub\\":\\"system:serviceaccount:fleet-endpoints:relay');
    expect(JSON.stringify(claims)).toContain(':oidc-provider/');
  });

  it('durations and retentions have the units of clusters.yaml', () => {
    const stack = stackIn();
    const clusterset = {
      name: 'fleet',
      evictAfter: Duration.minutes(10),
    } as const;
    const hub = new FleetHub(stack, 'Hub', { logRetention: RetentionDays.ONE_MONTH, clusterset });
    const settings = { batchPeriod: Duration.seconds(3), history: Duration.days(2) };
    const relay = { identity: { type: 'pod-identity', clusterName: 'a' } } as const;
    new FleetCluster(stack, 'A', { hub, id: 'a', imports: 'shadow', settings, relay });
    const template = Template.fromStack(stack);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    const registration = JSON.stringify(template.findResources('Custom::FleetEndpointsCluster')).replaceAll(
      '\\',
      '',
    );
    for (const part of ['"evictAfterSeconds":600', '"batchPeriodSeconds":3', '"historyDays":2'])
      expect(registration).toContain(part);
  });

  it('the table of a development hub is deleted with its stack; every other one stays', () => {
    const tableOf = (props: FleetHubProps) => {
      const stack = stackIn();
      new FleetHub(stack, 'Hub', props);
      const [table] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable'));
      return [table?.['DeletionPolicy'], table?.['Properties'].Replicas[0].DeletionProtectionEnabled];
    };
    expect(tableOf({ removalPolicy: RemovalPolicy.DESTROY })).toEqual(['Delete', false]);
    expect(tableOf({})).toEqual(['Retain', true]);
  });

  it('settings of the table beside a given table are refused', () => {
    const stack = stackIn();
    const table = new Snapshot(stack, 'Table');
    expect(() => new FleetHub(stack, 'Hub', { table, removalPolicy: RemovalPolicy.DESTROY })).toThrow(
      /table is given, so capacity, .* belong to FleetTable/,
    );
  });

  it.each([{ securityGroups: [] }, { httpsProxy: 'http://proxy.example.com:3128' }])(
    'a part of the network without vpc is refused: %j',
    (props) => {
      expect(() => new FleetHub(stackIn(), 'Hub', props)).toThrow(
        'FleetHub S/Hub: vpcSubnets, securityGroups, httpsProxy and noProxy need vpc',
      );
    },
  );

  it('functions may use the key of a given table', () => {
    const stack = stackIn('eu-central-1');
    new FleetHub(stack, 'Hub', {
      table: new Snapshot(stack, 'Table', { encryptionKey: new Key(stack, 'Key') }),
    });
    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: Match.arrayWith(['kms:Decrypt', 'kms:DescribeKey']) }),
        ]),
      },
      Roles: [{ Ref: Match.stringLikeRegexp('^HubWorker') }],
    });
  });

  it.each([
    [{ runbookUrl: 'object' }, /hub\.runbookUrl: an object of the CDK is given: text, a number/],
    [{ encryption: { queues: 'object' } }, /hub\.encryption\.queues: another object than kms\.IKey is given/],
    [{ clusterset: { name: 'object' } }, /hub\.clusterset\.name: an object of the CDK is given/],
  ])('an object in the place of another value is refused by name, as in JavaScript: %j', (props, message) => {
    const stack = stackIn();
    const topic = new Topic(stack, 'Topic');
    const given = JSON.parse(JSON.stringify(props), (_, value) => (value === 'object' ? topic : value));
    expect(() => new FleetHub(stack, 'Hub', given)).toThrow(message);
  });

  it('a key or a topic of another region than the stack’s is refused; a key of the table needs a known region', () => {
    const elsewhere = 'arn:aws:kms:us-east-1:111122223333:key/k';
    expect(() => new FleetHub(stackIn('eu-central-1'), 'Hub', { encryption: { queues: elsewhere } })).toThrow(
      /is not in hub\.region, eu-central-1/,
    );
    const topic = 'arn:aws:sns:us-east-1:111122223333:page';
    expect(() => new FleetHub(stackIn('eu-central-1'), 'Hub', { pageTopicArn: topic })).toThrow(
      /reach topics of their own region alone/,
    );
    expect(() => new FleetHub(stackIn(), 'Hub', { encryption: { table: elsewhere } })).toThrow(
      /env\.region of the stack/,
    );
  });
});

describe('tokens', () => {
  /** Every text of clusters.yaml by its path, but words of a list of choices. */
  function texts(schema: Schema, path = ''): string[] {
    if (schema.const !== undefined || schema.enum) return [];
    if (schema.oneOf) return [...new Set(schema.oneOf.flatMap((each) => texts(each, path)))];
    if (schema.type === 'array') return texts(schema.items ?? {}, path);
    if (schema.type === 'object')
      return Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
        texts(each, path ? `${path}.${name}` : name),
      );
    return schema.type === 'string' ? [path] : [];
  }
  const all = texts(configShape.schema).filter(
    (path) =>
      ![
        'hub.account',
        'hub.region',
        'hub.vpc.vpcId',
        'hub.vpc.subnetIds',
        'hub.vpc.securityGroupIds',
      ].includes(path),
  );
  /** Templates, or names in them, depend on these. */
  const needed = ['hub.name', 'clusters.id', 'clusters.exports.namespaces', 'clusters.exports.podCidrs'];

  const tokensIn = (stack: Stack) => {
    const used: string[] = [];
    const token = (path: string): string => {
      used.push(path);
      return new CfnParameter(stack, path.replaceAll('.', '')).valueAsString;
    };
    return { used, token };
  };

  it('tokens reach the templates from every text of the props, but the names that the synthesis needs', () => {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const stack = stackIn('eu-central-1', app);
    const { used, token } = tokensIn(stack);
    const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId: token('vpcId'),
      availabilityZones: ['a'],
      privateSubnetIds: [token('subnet')],
    });
    const hub = new FleetHub(stack, 'Hub', {
      operatorRoleArns: [token('hub.operatorRoleArns')],
      access: [token('hub.access')],
      encryption: {
        table: token('hub.encryption.table'),
        queues: token('hub.encryption.queues'),
        logs: token('hub.encryption.logs'),
      },
      vpc,
      httpsProxy: token('hub.vpc.httpsProxy'),
      noProxy: [token('hub.vpc.noProxy')],
      pageTopicArn: token('hub.pageTopicArn'),
      ticketTopicArn: token('hub.ticketTopicArn'),
      clusterset: { name: token('hub.clusterset.name') },
      runbookUrl: token('hub.runbookUrl'),
    });
    const relay = {
      namespace: token('clusters.relay.namespace'),
      priorityClassName: token('clusters.relay.priorityClassName'),
    };
    const authOf = (name: string): string => token(`clusters.api.auth.${name}`);
    const identityOf = (name: string): string => token(`clusters.relay.identity.${name}`);
    const clusters: Omit<FleetClusterProps, 'hub' | 'id'>[] = [
      {
        imports: 'shadow',
        region: token('clusters.region'),
        api: {
          url: token('clusters.api.url'),
          ca: token('clusters.api.ca'),
          auth: {
            type: 'eks',
            clusterName: authOf('clusterName'),
            region: authOf('region'),
            roleArn: authOf('roleArn'),
          },
        },
        relay: {
          ...relay,
          identity: {
            type: 'pod-identity',
            clusterName: identityOf('clusterName'),
            region: identityOf('region'),
          },
        },
      },
      {
        api: { ...api, auth: { type: 'web-identity', audience: authOf('audience') } },
        relay: { identity: { type: 'irsa', oidcProviderArn: identityOf('oidcProviderArn') } },
      },
      {
        api: {
          ...api,
          auth: { type: 'secret', secretArn: authOf('secretArn'), kmsKeyArn: authOf('kmsKeyArn') },
        },
        relay: { identity: { type: 'existing-role', roleArn: identityOf('roleArn') } },
      },
    ];
    for (const [i, cluster] of clusters.entries())
      new FleetCluster(stack, `Cluster${i}`, { hub, id: `c${i}`, ...cluster });
    expect([...used, ...needed].filter((path) => path.includes('.')).sort()).toEqual([...all].sort());
    const { Resources } = Template.fromStack(stack).toJSON();
    const text = JSON.stringify(Resources);
    const missing = used.filter((path) => !text.includes(`{"Ref":"${path.replaceAll('.', '')}"}`));
    // The relay's manifest has these alone.
    expect(missing).toEqual(['clusters.relay.priorityClassName']);
    expect(text).not.toContain('${Token[');
  });

  it.each([
    ['hub.name', (token: string) => ({ name: token })],
    ['hub.rollout', (token: string) => ({ rollout: token })],
    [
      'clusters[0].id',
      (token: string) => ({
        clusters: [{ id: token, relay: { identity: { type: 'pod-identity', clusterName: 'c' } } }],
      }),
    ],
    [
      'clusters[0].mode',
      (token: string) => ({
        clusters: [{ id: 'a', mode: token, relay: { identity: { type: 'pod-identity', clusterName: 'c' } } }],
      }),
    ],
  ])('a token is refused for %s, on which the synthesis depends', (path, propsOf) => {
    const stack = stackIn();
    const token = new CfnParameter(stack, 'P').valueAsString;
    const message = `FleetHub S/Hub: ${path}: a token is given: the value must be known at the synthesis`;
    expect(() => new FleetHub(stack, 'Hub', propsOf(token) as FleetHubProps)).toThrow(message);
  });

  it('a token is refused for a number', () => {
    const stack = stackIn();
    const lambdaConcurrencyLimit = new CfnParameter(stack, 'P', { type: 'Number' }).valueAsNumber;
    expect(() => new FleetHub(stack, 'Hub', { lambdaConcurrencyLimit })).toThrow(
      /lambdaConcurrencyLimit: a token is given/,
    );
  });
});
