/** The synthesized stacks: table, queues, functions and alarms. */
import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { hubEnv } from '#shared/contract/env.ts';
import { dirtyIndex, tableKey, ttlAttribute } from '#shared/contract/table-attributes.ts';
import { authority } from './clusters-file.ts';
import { fleetOf } from './fleet.ts';

const { hubTemplate, snapshotTemplate, clusterTemplate, snapshot } = fleetOf();
const cluster = clusterTemplate('eks');

const idsOf = (template: Template, type: string): string[] => Object.keys(template.findResources(type));

describe('the table', () => {
  it('keeps its logical id, for another one is another table', () => {
    expect(idsOf(snapshotTemplate, 'AWS::DynamoDB::GlobalTable')).toEqual(['SnapshotTable89D3D7EB']);
  });

  it('stays when its stack goes, can’t be deleted by mistake, and can be set back to any second', () => {
    snapshotTemplate.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          }),
        ],
      },
    });
  });

  it('the table is in a stack that can’t be deleted by mistake either', () => {
    expect(snapshot.terminationProtection).toBe(true);
  });

  it('provisioned capacity of the table and of its index scales within the range of the file', () => {
    const fleet = fleetOf(
      'hub: { capacity: { minReads: 500, maxReads: 40000, minWrites: 200, maxWrites: 10000 } }',
    ).snapshotTemplate;
    // CloudFormation changes the billing mode of a table only if every range has a seed.
    const scaled = (name: string, MinCapacity: number, MaxCapacity: number) => ({
      [name]: {
        MinCapacity,
        MaxCapacity,
        SeedCapacity: MaxCapacity,
        TargetTrackingScalingPolicyConfiguration: { TargetValue: 70 },
      },
    });
    const WriteProvisionedThroughputSettings = scaled('WriteCapacityAutoScalingSettings', 200, 10_000);
    const ReadProvisionedThroughputSettings = scaled('ReadCapacityAutoScalingSettings', 500, 40_000);
    fleet.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      BillingMode: 'PROVISIONED',
      WriteProvisionedThroughputSettings,
      GlobalSecondaryIndexes: [
        Match.objectLike({ IndexName: dirtyIndex.name, WriteProvisionedThroughputSettings }),
      ],
      Replicas: [
        Match.objectLike({
          ReadProvisionedThroughputSettings,
          GlobalSecondaryIndexes: [
            Match.objectLike({ IndexName: dirtyIndex.name, ReadProvisionedThroughputSettings }),
          ],
        }),
      ],
    });
    snapshotTemplate.hasResourceProperties('AWS::DynamoDB::GlobalTable', { BillingMode: 'PAY_PER_REQUEST' });
  });

  it('the table has the keys, the index and the TTL attribute that the code names', () => {
    snapshotTemplate.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: [
        { AttributeName: tableKey.partition, KeyType: 'HASH' },
        { AttributeName: tableKey.sort, KeyType: 'RANGE' },
      ],
      AttributeDefinitions: Match.arrayWith([
        { AttributeName: dirtyIndex.partition, AttributeType: 'S' },
        { AttributeName: dirtyIndex.sort, AttributeType: 'N' },
      ]),
      GlobalSecondaryIndexes: [
        Match.objectLike({ IndexName: dirtyIndex.name, Projection: { ProjectionType: 'KEYS_ONLY' } }),
      ],
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
    });
  });
});

it('docs/operate/runbook.md makes a lost table with the keys, the index and the TTL attribute that the code names', () => {
  const runbook = readFileSync('docs/operate/runbook.md', 'utf8');
  const key = (name: string, type: string): string => `AttributeName=${name},AttributeType=${type}`;
  const { partition, sort } = dirtyIndex;
  for (const text of [
    `--attribute-definitions ${key(tableKey.partition, 'S')} ${key(tableKey.sort, 'S')} ${key(partition, 'S')} ${key(sort, 'N')} `,
    `--key-schema AttributeName=${tableKey.partition},KeyType=HASH AttributeName=${tableKey.sort},KeyType=RANGE `,
    `'IndexName=${dirtyIndex.name},KeySchema=[{AttributeName=${partition},KeyType=HASH},{AttributeName=${sort},KeyType=RANGE}],Projection={ProjectionType=KEYS_ONLY}'`,
    `--time-to-live-specification Enabled=true,AttributeName=${ttlAttribute}`,
  ])
    expect(runbook).toContain(text);
});

describe('the functions', () => {
  it.each([
    ['snapshot, Endpoints and EndpointSlices', 1769, 30],
    ['overdue', 1769, 55],
    ['registers clusters', 256, 90],
  ])(
    '…%s: %i MiB, %i s, arm64, Node 24, JSON logs that Lambda adds to only when something fails',
    (description, memory, timeout) => {
      hubTemplate.hasResourceProperties('AWS::Lambda::Function', {
        Description: Match.stringLikeRegexp(description),
        MemorySize: memory,
        Timeout: timeout,
        Architectures: ['arm64'],
        Runtime: 'nodejs24.x',
        LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN', LogGroup: Match.anyValue() },
      });
    },
  );

  it('the functions may call themselves through their queues as often as a retry takes', () => {
    const allowed = hubTemplate.findResources('AWS::Lambda::Function', {
      Properties: { RecursiveLoop: 'Allow' },
    });
    expect(Object.keys(allowed).map((id) => id.replace(/Function.*/, ''))).toEqual(['Worker', 'Sweep']);
  });

  it('the functions run in the VPC if there is one, but only those that call clusters', () => {
    const inside = hubTemplate.findResources('AWS::Lambda::Function', {
      Properties: { VpcConfig: Match.anyValue() },
    });
    expect(Object.keys(inside).map((id) => id.replace(/Function.*/, ''))).toEqual(['Worker', 'Sweep']);
  });

  it('the functions have every variable that they read', () => {
    for (const [id, { Properties }] of Object.entries(hubTemplate.findResources('AWS::Lambda::Function'))) {
      const metrics = id.startsWith('Register') ? [] : [hubEnv.clusterMetrics];
      const proxy = /^(Worker|Sweep)/.test(id) ? ['HTTPS_PROXY', 'NO_PROXY'] : [];
      expect(Object.keys(Properties.Environment.Variables).sort()).toEqual(
        [...metrics, hubEnv.hubName, 'NODE_OPTIONS', hubEnv.tableName, ...proxy].sort(),
      );
    }
  });

  it('the functions in the VPC use its proxy, but for the hosts that are excepted', () => {
    hubTemplate.hasResourceProperties('AWS::Lambda::Function', {
      VpcConfig: Match.anyValue(),
      Environment: {
        Variables: {
          HTTPS_PROXY: 'http://proxy.example.com:3128',
          NO_PROXY: 'dynamodb.eu-central-1.amazonaws.com,.example.com',
        },
      },
    });
  });

  it('keep their logs for as long as is configured', () => {
    hubTemplate.resourcePropertiesCountIs('AWS::Logs::LogGroup', { RetentionInDays: 14 }, 3);
  });

  it('the functions are called by the clock once a minute, in the case of sweep', () => {
    hubTemplate.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      Target: { RetryPolicy: { MaximumRetryAttempts: 0 } },
    });
  });

  it('the functions are never called again by Lambda for a minute that is over, in the case of sweep', () => {
    hubTemplate.resourceCountIs('AWS::Lambda::EventInvokeConfig', 1);
    const [sweep] = idsOf(hubTemplate, 'AWS::Lambda::Function').filter((id) => id.startsWith('Sweep'));
    hubTemplate.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: sweep },
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
  });

  it('the functions reserve no executions, which Lambda refuses in a new account', () => {
    const functions = Object.values(hubTemplate.findResources('AWS::Lambda::Function'));
    expect(functions.map(({ Properties }) => Properties.ReservedConcurrentExecutions)).toEqual(
      functions.map(() => undefined),
    );
  });
});

interface CloudFormationGroup {
  readonly Properties: {
    readonly DeploymentConfigName: string;
    readonly AutoRollbackConfiguration: { readonly Events: readonly string[] };
    readonly AlarmConfiguration: { readonly Alarms: readonly { readonly Name: { readonly Ref: string } }[] };
  };
}

describe('a new version of the worker', () => {
  const aliasOf = (template: Template) =>
    Object.entries(template.findResources('AWS::Lambda::Alias')).find(([key]) =>
      key.startsWith('Worker'),
    )![1];

  it('a new version of the worker takes over in steps, and goes back when it crashes or messages fail', () => {
    const [[group, { Properties }]] = Object.entries(
      hubTemplate.findResources('AWS::CodeDeploy::DeploymentGroup'),
    ) as [[string, CloudFormationGroup]];
    expect(aliasOf(hubTemplate)).toMatchObject({
      Properties: {
        Name: 'live',
        FunctionVersion: {
          'Fn::GetAtt': [expect.stringMatching(/^WorkerFunctionCurrentVersion/), 'Version'],
        },
      },
      UpdatePolicy: { CodeDeployLambdaAliasUpdate: { DeploymentGroupName: { Ref: group } } },
    });
    expect(Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaLinear10PercentEvery1Minute');
    expect(Properties.AutoRollbackConfiguration.Events).toContain('DEPLOYMENT_STOP_ON_ALARM');
    const alarms = Properties.AlarmConfiguration.Alarms.map((a) => a.Name.Ref.slice(0, -8));
    expect(alarms).toEqual(['MonitoringNewWorkerFails', 'MonitoringMessagesFail']);
  });

  it('a new version of the worker is watched apart from the one before, whose failures keep no mended one from being deployed', () => {
    const [alarm] = Object.values(
      hubTemplate.findResources('AWS::CloudWatch::Alarm', {
        Properties: { AlarmDescription: Match.stringLikeRegexp('newworkerfails') },
      }),
    );
    const dimensions = Object.fromEntries(
      alarm!['Properties'].Dimensions.map((d: { Name: string; Value: unknown }) => [
        d.Name,
        JSON.stringify(d.Value),
      ]),
    );
    expect(Object.keys(dimensions)).toEqual(['ExecutedVersion', 'FunctionName', 'Resource']);
    expect(dimensions.ExecutedVersion).toContain('WorkerFunctionCurrentVersion');
    expect(dimensions.Resource).toContain(':live');
  });

  it('a deploy switches the alias at once if the configuration asks for it', () => {
    const { hubTemplate: bold } = fleetOf('hub: { rollout: at-once }');
    bold.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
    expect(aliasOf(bold)).not.toHaveProperty('UpdatePolicy');
  });
});

describe('the queues of a cluster', () => {
  it.each([
    ['Events', 90, 50],
    ['Syncs', 90, 50],
  ])('%s: three times the worker’s timeout, and its own dead letters', (name, visibility, receives) => {
    const [dead] = idsOf(cluster, 'AWS::SQS::Queue').filter((id) => id.startsWith(`QueuesDead${name}`));
    cluster.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: visibility,
      RedrivePolicy: { maxReceiveCount: receives, deadLetterTargetArn: { 'Fn::GetAtt': [dead, 'Arn'] } },
    });
  });

  it.each([
    ['Events', 'WorkerFunction', 3],
    ['WakeUps', 'WorkerFunction', 4],
  ])(
    '%s: batches of ten, answers for each message, as many at a time as configured',
    (id, target, concurrency) => {
      const mapping = Object.entries(cluster.findResources('AWS::Lambda::EventSourceMapping')).find(([key]) =>
        key.startsWith(id),
      )![1];
      expect(mapping['Properties']).toMatchObject({
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: concurrency },
      });
      expect(mapping['Properties']).not.toHaveProperty('MaximumBatchingWindowInSeconds');
      // The version that is live, and not the newest.
      expect(JSON.stringify(mapping['Properties'].FunctionName)).toMatch(
        new RegExp(`${target}.*":live"\\]\\]`),
      );
    },
  );

  it('the queues of a cluster have names that the hub’s functions may use, and such as no two clusters or hubs share', () => {
    const yaml = (name: string, ids: readonly string[]) =>
      `hub: { name: ${name} }\nclusters:${ids.map((id) => `\n  - { id: ${id}, relay: { identity: { type: pod-identity, clusterName: a } } }`).join('')}`;
    const ids = ['a', 'a-events', 'a-events-dead', 'events', 'x'.repeat(32)];
    const names = ['Fleet', 'Fleet2', 'F'.repeat(20)].flatMap((name) => {
      const fleet = fleetOf(yaml(name, ids));
      return ids.flatMap((id) =>
        Object.values(fleet.clusterTemplate(id).findResources('AWS::SQS::Queue')).map(
          (q) => q['Properties'].QueueName as string,
        ),
      );
    });
    expect(new Set(names).size).toBe(3 * 4 * ids.length);
    expect(names.slice(0, 4).sort()).toEqual([
      'Fleet-a-events',
      'Fleet-a-events-dead',
      'Fleet-a-syncs',
      'Fleet-a-syncs-dead',
    ]);
    expect(Math.max(...names.map((n) => n.length))).toBeLessThanOrEqual(80);
    const rights = JSON.stringify(fleetOf(yaml('Fleet', ids)).hubTemplate.findResources('AWS::IAM::Policy'));
    for (const pattern of ['Fleet-*-events', 'Fleet-*-syncs']) expect(rights).toContain(`:${pattern}"`);
  });

  it('take messages of a mebibyte, and dead letters of their own queue alone', () => {
    for (const template of [cluster, hubTemplate])
      for (const queue of Object.values(template.findResources('AWS::SQS::Queue')))
        expect(queue['Properties'].MaximumMessageSize).toBe(1_048_576);
    const allowed = Object.values(cluster.findResources('AWS::SQS::Queue')).map((q) => [
      q['Properties'].QueueName,
      JSON.stringify(q['Properties'].RedriveAllowPolicy),
    ]);
    for (const [name, policy] of allowed) {
      if (name.endsWith('-dead'))
        expect(policy).toMatch(new RegExp(`byQueue.*:${name.replace(/-dead$/, '')}"`));
      else expect(policy).toContain('denyAll');
    }
  });

  it('the queues of a cluster are encrypted, require TLS, and are standard queues', () => {
    for (const template of [cluster, hubTemplate]) {
      const queues = Object.values(template.findResources('AWS::SQS::Queue'));
      expect(queues.length).toBeGreaterThan(0);
      for (const queue of queues) {
        expect(queue['Properties'].SqsManagedSseEnabled).toBe(true);
        expect(queue['Properties']).not.toHaveProperty('FifoQueue');
      }
      template.resourcePropertiesCountIs(
        'AWS::SQS::QueuePolicy',
        {
          PolicyDocument: {
            Statement: Match.arrayWith([
              Match.objectLike({
                Effect: 'Deny',
                Action: 'sqs:*',
                Condition: { Bool: { 'aws:SecureTransport': 'false' } },
              }),
            ]),
          },
        },
        queues.length,
      );
    }
  });
});

describe('a cluster', () => {
  const registrationOf = (id: string) =>
    Object.values(clusterTemplate(id).findResources('Custom::FleetEndpointsCluster'))[0]!;

  it('registers itself before its first message can arrive', () => {
    const [registration] = idsOf(cluster, 'Custom::FleetEndpointsCluster');
    for (const mapping of Object.values(cluster.findResources('AWS::Lambda::EventSourceMapping'))) {
      expect(mapping['DependsOn']).toContain(registration);
    }
  });

  it('a cluster is registered with its queues, settings and credentials, and nothing that is the stack’s own business', () => {
    const parts = registrationOf('eks')['Properties'].Registration['Fn::Join'][1] as unknown[];
    const registration = JSON.parse(parts.map((p) => (typeof p === 'string' ? p : 'X')).join(''));
    expect(registration).toEqual({
      id: 'eks',
      mode: 'shadow',
      settings: {
        batchPeriodSeconds: 0,
        maxEndpointsPerSlice: 100,
        controllers: ['endpoints', 'slices'],
        optInCleanup: true,
        historyDays: 7,
        zonalShift: 'follow',
      },
      queues: { events: 'X', syncs: 'X', parked: 'X', quarantine: 'X' },
      eventsArn: 'X',
      syncsArn: 'X',
      api: { url: 'https://eks.example.com', ca: authority, auth: { type: 'eks', clusterName: 'eks' } },
    });
  });

  it('a cluster is registered again by a deploy for which the configuration has raised the epoch, and by no other', () => {
    const version = (hub: string): string => {
      const clusters = 'clusters: [{ id: a, relay: { identity: { type: pod-identity, clusterName: a } } }]';
      const template = fleetOf(`hub: ${hub}\n${clusters}`).clusterTemplate('a');
      return Object.values(template.findResources('Custom::FleetEndpointsCluster'))[0]!['Properties']
        .RegistrationVersion;
    };
    expect([
      version('{}'),
      version('{ registrationNumber: 0 }'),
      version('{ registrationNumber: 3 }'),
    ]).toEqual(['2', '2', '2.3']);
  });

  it('a cluster is not registered with the key of its secret, which is a right of the functions and nothing that they read', () => {
    const auth =
      'type: secret, secretArn: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:s", kmsKeyArn: "arn:aws:kms:eu-west-1:111122223333:key/1"';
    const { clusterTemplate: keyed } = fleetOf(
      `hub: {}\nclusters:\n  - { id: a, api: { url: "https://a.example.com", auth: { ${auth} } }, relay: { identity: { type: pod-identity, clusterName: a } } }`,
    );
    const registration = JSON.stringify(keyed('a').findResources('Custom::FleetEndpointsCluster'));
    expect(registration).toContain('secretsmanager');
    expect(registration).not.toContain('kms');
  });

  it('a cluster that is on EKS lets both functions that talk to it in, as writers', () => {
    cluster.resourcePropertiesCountIs(
      'AWS::EKS::AccessEntry',
      { ClusterName: 'eks', Type: 'STANDARD', KubernetesGroups: ['fleet-endpoints:writers'] },
      2,
    );
    expect(idsOf(clusterTemplate('elsewhere'), 'AWS::EKS::AccessEntry')).toEqual([]);
  });
});

it('the stacks have no physical names but those of dashboards, queues, logs and roles, which begin with the hub’s, so that two hubs can live in one account', () => {
  const names = [
    'FunctionName',
    'RoleName',
    'TableName',
    'QueueName',
    'AlarmName',
    'LogGroupName',
    'PolicyName',
  ];
  const isOfHub = (property: string, value: unknown): boolean =>
    ['QueueName', 'RoleName', 'LogGroupName'].includes(property) &&
    JSON.stringify(value).replace('{"Fn::Join":["",[', '').startsWith('"Fleet-');
  for (const template of [hubTemplate, snapshotTemplate, cluster]) {
    for (const [id, { Type, Properties = {} }] of Object.entries(
      template.toJSON().Resources as Record<string, { Type: string; Properties?: object }>,
    )) {
      // Names of inline policies are local to their role, and the FunctionName of what calls a function, or
      // is one of its versions, is a reference.
      const referring = ['EventSourceMapping', 'EventInvokeConfig', 'Version', 'Alias'].map(
        (t) => `AWS::Lambda::${t}`,
      );
      if (Type === 'AWS::IAM::Policy' || referring.includes(Type)) continue;
      const named = Object.entries(Properties).flatMap(([p, value]) =>
        names.includes(p) && !isOfHub(p, value) ? [p] : [],
      );
      // A composite alarm must have one: CloudFormation needs it, and CDK makes it from the stack's own.
      if (Type !== 'AWS::CloudWatch::CompositeAlarm') expect({ id, named }).toEqual({ id, named: [] });
    }
  }
});

describe('roles, which API servers, other accounts and keys trust by their ARN', () => {
  const hubName = 'A'.repeat(20);
  const ids = ['a', 'b'].map((end) => `${'c'.repeat(31)}${end}`);
  const clusters = ids.map(
    (id) => `  - { id: ${id}, relay: { identity: { type: pod-identity, clusterName: c } } }`,
  );
  const rolesOf = (region: string) => {
    const fleet = fleetOf(
      [`hub: { name: ${hubName}${region && `, region: ${region}`} }`, 'clusters:', ...clusters].join('\n'),
    );
    const templates = [fleet.hubTemplate, ...ids.map((id) => fleet.clusterTemplate(id))];
    const names = templates.flatMap((t) =>
      Object.values(t.findResources('AWS::IAM::Role')).map((r) => r['Properties'].RoleName as unknown),
    );
    return names.map((name) => JSON.stringify(name));
  };

  it('roles have the same names in a hub that is deployed again, within the length that IAM takes', () => {
    const names = rolesOf('ap-southeast-1').map((name) => JSON.parse(name) as string);
    const ofHub = ['register', 'schedule', 'sweep', 'worker', 'worker-rollout'];
    const ofClusters = names.filter((name) => name.endsWith('-relay'));
    expect(names.filter((name) => !name.endsWith('-relay')).sort()).toEqual(
      ofHub.map((role) => `${hubName}-ap-southeast-1-${role}`),
    );
    expect(ofClusters).toEqual([
      `${hubName}-ap-southeast-1-${'c'.repeat(15)}-d1166c-relay`,
      `${hubName}-ap-southeast-1-${'c'.repeat(15)}-e2976d-relay`,
    ]);
    expect(Math.max(...names.map((name) => name.length))).toBeLessThanOrEqual(64);
    expect(new Set(names).size).toBe(names.length);
  });

  it('roles have these names too where the region is known only at the deploy', () => {
    const named = (region: string): string[] =>
      rolesOf(region).map((name) =>
        name
          .replace('{"Fn::Join":["",[', '')
          .replace(/",\{"Ref":"AWS::Region"\},"|eu-west-1/, 'REGION')
          .replace(/\]\]\}$/, ''),
      );
    expect(named('')).toEqual(named('eu-west-1'));
  });
});
