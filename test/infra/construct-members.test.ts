/** Proves the members of FleetHub and FleetCluster: grants, alarms, dashboards and metrics. */
import { readFileSync } from 'node:fs';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ArnPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import { dirtyIndex } from '#shared/contract/table-attributes.ts';
import { actionsOf, statementsOf } from './fleet.ts';

process.env['CDK_VALIDATION'] = 'false';

const relay = { identity: { type: 'pod-identity', clusterName: 'a' } } as const;
function world(props: ConstructorParameters<typeof FleetHub>[2] = {}) {
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'S', {
    env: { account: '111122223333', region: 'eu-central-1' },
  });
  const hub = new FleetHub(stack, 'Hub', { name: 'Fleet', ...props });
  const cluster = new FleetCluster(stack, 'A', { hub, id: 'a', relay });
  const roleOf = (id: string): Role =>
    new Role(stack, id, { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
  return { stack, hub, cluster, roleOf, template: () => Template.fromStack(stack) };
}

describe('rights of people', () => {
  /** Actions that a row of docs/operate/security.md names, without those of a cluster's own secret. */
  const rows = readFileSync('docs/operate/security.md', 'utf8').split('\n');
  const actionsOfRow = (command: string): readonly string[] => {
    const [, , onTable = '', besides = ''] =
      rows.find((row) => row.startsWith(`| ${command}`))?.split('|') ?? [];
    const inTicks = (text: string): readonly string[] =>
      [...text.matchAll(/`([\w:]+)`/g)].map(([, word = '']) => word);
    const names = inTicks(onTable).map((name) => `dynamodb:${name.replace('dynamodb:', '')}`);
    return [...names, ...inTicks(besides).filter((name) => name.startsWith('sqs:'))];
  };
  const reading = actionsOfRow('`cluster list`');
  const operating = [
    ...reading,
    ...['`cluster pause`', '`redrive` |', '`redrive --run`'].flatMap(actionsOfRow),
  ];

  it('grantRead grants the rights of the commands that read, as docs/operate/security.md has them', () => {
    const { hub, roleOf, template } = world();
    hub.grantRead(roleOf('Reader'));
    expect(reading.length).toBe(3);
    const statements = statementsOf(template(), 'Reader');
    expect(actionsOf(statements)).toEqual([...new Set(reading)].sort());
    // AWS authorises a query of an index on the index itself.
    const [table, index] = statements.flatMap(({ Resource }) => Resource);
    expect(index).toEqual({ 'Fn::Join': ['', [table, `/index/${dirtyIndex.name}`]] });
  });

  it('grantOperate grants those of switches and redrive too, but no write of the records that only register writes', () => {
    const { hub, roleOf, template } = world();
    hub.grantOperate(roleOf('Operator'));
    const statements = statementsOf(template(), 'Operator');
    expect(operating.length).toBeGreaterThan(10);
    expect(actionsOf(statements)).toEqual([...new Set(operating)].sort());
    const writes = statements.filter(({ Action }) => [Action].flat().includes('dynamodb:PutItem'));
    expect(writes.map(({ Condition }) => Condition)).toEqual([
      {
        'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': ['CLUSTERS', 'QUEUE#*', 'ACCESS#*'] },
        Null: { 'dynamodb:LeadingKeys': 'false' },
      },
    ]);
    expect(statements.flatMap(({ Resource }) => Resource)).not.toContain('*');
  });

  it('queues of the hub and of its clusters admit an operator as a sender, also one that is granted after them', () => {
    const { hub, roleOf, template } = world();
    hub.grantOperate(roleOf('Operator'));
    hub.grantOperate(new ArnPrincipal('arn:aws:iam::111122223333:role/on-call'));
    const denials = Object.values(template().findResources('AWS::SQS::QueuePolicy')).flatMap(
      ({ Properties }) =>
        Properties.PolicyDocument.Statement.flatMap(
          (s: { Sid?: string; Condition: { ArnNotLike: { 'aws:PrincipalArn': unknown[] } } }) =>
            s.Sid === 'OnlyTheseSend' ? [s.Condition.ArnNotLike['aws:PrincipalArn']] : [],
        ),
    );
    expect(denials).toHaveLength(4);
    const both = [
      { 'Fn::GetAtt': [expect.stringMatching(/^Operator/), 'Arn'] },
      'arn:aws:iam::111122223333:role/on-call',
    ];
    for (const senders of denials) expect(senders).toEqual(expect.arrayContaining(both));
  });

  it('keys of the customer’s own may be used through the table and the queues alone', () => {
    const stack = new Stack(new App(), 'K');
    const arn = Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-central-1:111122223333:key/k');
    const { hub, roleOf, template } = world({ encryption: { table: arn, queues: arn } });
    hub.grantOperate(roleOf('Operator'));
    const services = statementsOf(template(), 'Operator').flatMap(({ Action, Condition }) =>
      [Action].flat().includes('kms:Decrypt') ? [JSON.stringify(Condition)] : [],
    );
    for (const service of ['dynamodb', 'sqs'])
      expect(services).toContain(
        `{"StringEquals":{"kms:ViaService":"${service}.eu-central-1.amazonaws.com"}}`,
      );
    expect(services.every((condition) => condition.includes('kms:ViaService'))).toBe(true);
  });

  it('a grantee without an ARN, and more operators than a policy has room for, are refused', () => {
    const { hub } = world();
    expect(() => hub.grantOperate(new ServicePrincipal('ec2.amazonaws.com'))).toThrow(
      /has no ARN in IAM: a role or a user is needed/,
    );
    const many = Array.from(
      { length: 21 },
      (_, i) => new ArnPrincipal(`arn:aws:iam::111122223333:role/r${i}`),
    );
    expect(() => many.map((each) => hub.grantOperate(each))).toThrow(
      /FleetHub S\/Hub: 21 roles are too many/,
    );
  });
});

describe('monitoring', () => {
  it('every alarm is a member under its heading in the runbook, and takes further actions', () => {
    const { stack, hub, cluster, template } = world();
    const topic = new Topic(stack, 'Topic');
    hub.alarms['WorkOverdue']?.addAlarmAction(new SnsAction(topic));
    cluster.alarms['RelaySilent']?.addAlarmAction(new SnsAction(topic));
    const made = template();
    for (const MetricName of ['OldestDirtyAge', 'RelayHeartbeatAge'])
      made.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName,
        AlarmActions: [{ Ref: Match.stringLikeRegexp('^Topic') }],
      });
    const headings = new Set(
      [...readFileSync('docs/operate/runbook.md', 'utf8').matchAll(/^#+ (\w+)$/gm)].map(
        ([, heading]) => heading,
      ),
    );
    expect(
      [...Object.keys(hub.alarms), ...Object.keys(cluster.alarms)].filter((id) => !headings.has(id)),
    ).toEqual([]);
    const alarms = [
      ...Object.keys(made.findResources('AWS::CloudWatch::Alarm')),
      ...Object.keys(made.findResources('AWS::CloudWatch::CompositeAlarm')),
    ];
    const named = [
      ...Object.keys(hub.alarms).map((id) => `HubMonitoring${id}`),
      ...Object.keys(cluster.alarms).map((id) => `A${id}`),
    ];
    // The windows of a burn rate are parts of its alarm.
    expect(alarms.filter((id) => !/In\d+Minutes/.test(id) && !named.includes(id.slice(0, -8)))).toEqual([]);
  });

  it('metrics are those of the alarms, of the hub or of one cluster, with the caller’s options', () => {
    const { stack, hub, cluster, template } = world();
    hub.metricOverdueWork().createAlarm(stack, 'Overdue', { threshold: 30, evaluationPeriods: 1 });
    cluster
      .metricRelaySilence({ period: Duration.minutes(5) })
      .createAlarm(stack, 'Silence', { threshold: 30, evaluationPeriods: 1 });
    cluster.metricWriteLatency().createAlarm(stack, 'Latency', { threshold: 30, evaluationPeriods: 1 });
    hub
      .metric('SyncsFailed', { statistic: 'Sum' })
      .createAlarm(stack, 'Failed', { threshold: 30, evaluationPeriods: 1 });
    const own = { Namespace: 'FleetEndpoints/Fleet', Threshold: 30 };
    const made = template();
    made.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ...own,
      MetricName: 'OldestDirtyAge',
      Dimensions: Match.absent(),
      Statistic: 'Maximum',
      Period: 60,
    });
    const Dimensions = [{ Name: 'cluster', Value: 'a' }];
    made.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ...own,
      MetricName: 'RelayHeartbeatAge',
      Dimensions,
      Statistic: 'Maximum',
      Period: 300,
    });
    made.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ...own,
      MetricName: 'SyncLatency',
      Dimensions,
      ExtendedStatistic: 'p99',
    });
    made.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ...own,
      MetricName: 'SyncsFailed',
      Statistic: 'Sum',
    });
  });

  it('dashboards and queues are members, for outputs and widgets of the app', () => {
    const { stack, hub, cluster } = world();
    expect(stack.resolve(hub.dashboards.fleet.dashboardName)).toEqual({
      Ref: expect.stringMatching(/^HubMonitoringFleet/),
    });
    expect(stack.resolve(hub.dashboards.cluster.dashboardName)).toEqual({
      Ref: expect.stringMatching(/^HubMonitoringCluster/),
    });
    expect(stack.resolve(cluster.queues.events.queueUrl)).toEqual({
      Ref: expect.stringMatching(/^AQueuesEvents/),
    });
  });
});
