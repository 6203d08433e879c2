/** `config check --account`, against answers as AWS's command line prints them. */
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { accountPolicy, checkAccount, findingLines, reachApi } from '#infra/cli/account/account-check.ts';
import type { AccountDeps } from '#infra/cli/account/account-cluster.ts';
import type { Finding } from '#infra/cli/account/account-finding.ts';
import { plannedOf } from '#infra/cli/account/account-quotas.ts';
import type { Aws } from '#infra/cli/account/aws-cli.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { parseConfig } from '#infra/config/load-config.ts';
import { authority, authorityData } from '#test/infra/clusters-file.ts';
import { fleetOf } from '#test/infra/fleet.ts';

const topicArn = (name: string, region = 'eu-west-1') => `arn:aws:sns:${region}:111122223333:${name}`;
const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/1';
const tableKeyArn = 'arn:aws:kms:eu-west-1:111122223333:key/2';
/** In an account of its own. */
const secretKeyArn = 'arn:aws:kms:eu-west-1:444455556666:key/3';
const secretArn = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:own-AbCdEf';
const url = 'https://abc.gr7.eu-west-1.eks.amazonaws.com';
const now = Date.parse('2026-01-02T00:00:00Z');

const file = parseConfig(
  'clusters.yaml',
  `
hub:
  name: Fleet
  account: "111122223333"
  region: eu-west-1
  pageTopicArn: "${topicArn('page')}"
  ticketTopicArn: "${topicArn('ticket')}"
  encryption: { logs: "${keyArn}", table: "${tableKeyArn}", queues: "${tableKeyArn}" }
clusters:
  - id: shop
    api: { url: "${url}", ca: "${authorityData}", auth: { type: eks, clusterName: shop, accessEntry: true } }
    relay: { identity: { type: pod-identity, clusterName: shop } }
  - id: own
    api: { url: "https://own.example.com", auth: { type: secret, secretArn: "${secretArn}", kmsKeyArn: "${secretKeyArn}" } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/own" } }
`,
);

const accountPolicyText = (...principals: readonly string[]): string =>
  JSON.stringify({
    Statement: principals.map((name) => ({ Principal: { AWS: `arn:aws:iam::111122223333:${name}` } })),
  });
const policy = (...services: readonly string[]): string =>
  JSON.stringify({ Statement: services.map((Service) => ({ Principal: { Service } })) });
const tokenUntil = (ms: number): string =>
  ['h', Buffer.from(JSON.stringify({ exp: ms / 1000 })).toString('base64url'), 's'].join('.');
const absent = (): never => {
  throw new UsageError(
    'aws x y: An error occurred (ResourceNotFoundException) when calling the X operation: none',
  );
};

type Answers = { readonly [call: string]: unknown };

/** The keys have the service, the operation, and an argument where two calls differ in it alone. */
const healthy: Answers = {
  'lambda get-account-settings': {
    AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 },
  },
  'cloudformation describe-stacks': ['Fleet-snapshot', 'Fleet-hub', 'Fleet-cluster-own', 'theirs'],
  'cloudformation describe-account-limits': {
    AccountLimits: [
      { Name: 'StackOutputsLimit', Value: 200 },
      { Name: 'StackLimit', Value: 2000 },
    ],
  },
  'iam get-account-summary': { SummaryMap: { Roles: 40, RolesQuota: 1000 } },
  [`sns get-topic-attributes ${topicArn('page')}`]: {
    Attributes: { Policy: policy('cloudwatch.amazonaws.com') },
  },
  [`sns get-topic-attributes ${topicArn('ticket')}`]: {
    Attributes: { Policy: policy('cloudwatch.amazonaws.com') },
  },
  'kms describe-key': { KeyMetadata: { KeyState: 'Enabled' } },
  [`kms get-key-policy ${keyArn}`]: { Policy: policy('logs.eu-west-1.amazonaws.com') },
  [`kms get-key-policy ${tableKeyArn}`]: { Policy: accountPolicyText('root') },
  [`kms get-key-policy ${secretKeyArn}`]: {
    Policy: accountPolicyText('role/Fleet-eu-west-1-worker', 'role/Fleet-eu-west-1-sweep'),
  },
  'eks describe-cluster': {
    cluster: {
      arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/shop',
      endpoint: url.toUpperCase().replace('HTTPS', 'https'),
      version: '1.34',
      certificateAuthority: { data: authorityData },
      accessConfig: { authenticationMode: 'API' },
      zonalShiftConfig: { enabled: true },
    },
  },
  'arc-zonal-shift get-managed-resource arn:aws:eks:eu-west-1:111122223333:cluster/shop': {
    appliedWeights: { 'euw1-az1': 1, 'euw1-az2': 0 },
    zonalShifts: [
      { appliedStatus: 'APPLIED', awayFrom: 'euw1-az2', expiryTime: '2026-01-02T06:00:00+00:00' },
    ],
    autoshifts: [],
  },
  'eks describe-addon': { addon: { status: 'ACTIVE' } },
  'eks list-pod-identity-associations': { associations: [{ associationId: 'a-1' }] },
  'eks describe-pod-identity-association': {
    association: { roleArn: 'arn:aws:iam::111122223333:role/Fleet-eu-west-1-shop-relay' },
  },
  'secretsmanager get-secret-value': { SecretString: JSON.stringify({ token: 'opaque' }) },
};

async function asked(changes: Answers = {}, reach: AccountDeps['reach'] = async () => {}) {
  const answers: Answers = { ...healthy, ...changes };
  const calls: string[] = [];
  const aws: Aws = async (...args) => {
    calls.push(args.join(' '));
    const fitting = Object.keys(answers).filter((key) => key.split(' ').every((word) => args.includes(word)));
    const name = fitting.sort((a, b) => b.length - a.length)[0];
    const answer = name === undefined ? absent() : answers[name];
    return typeof answer === 'function' ? answer() : answer;
  };
  const findings = await checkAccount({ aws, reach, now: () => now }, file);
  return { findings, calls };
}

const of = (findings: readonly Finding[], verdict: Finding['verdict']): readonly string[] =>
  findings
    .filter((f) => f.verdict === verdict)
    .map(({ subject: whose, question }) => `${whose}: ${question}`);

describe('config check --account', () => {
  it('a missing region is said once, and nothing more is asked', async () => {
    const noRegion = (): never => {
      throw new Error('aws lambda get-account-settings: You must specify a region.');
    };
    await expect(asked({ 'lambda get-account-settings': noRegion })).rejects.toThrow(
      /^no region: set hub\.region in the clusters file, AWS_REGION, or/,
    );
  });

  it('the check finds nothing wrong in an account that has what the file needs, by calls that read', async () => {
    const { findings, calls } = await asked();
    expect([of(findings, 'wrong'), of(findings, 'unknown')]).toEqual([[], []]);
    expect(of(findings, 'fine')).toEqual([
      'hub: concurrent executions of Lambda',
      'hub: stacks of CloudFormation',
      'hub: roles of IAM',
      'hub: pageTopicArn',
      'hub: ticketTopicArn',
      'hub: encryption.table',
      'hub: encryption.queues',
      'hub: encryption.logs',
      'shop: version of EKS',
      'shop: api.ca and api.url',
      'shop: authentication mode of EKS',
      'shop: zonal shift',
      'shop: Pod Identity agent',
      'shop: Pod Identity association',
      'shop: API server, from this machine',
      'own: secret',
      'own: key of the secret',
      'own: API server, from this machine',
    ]);
    expect(findings.find((f) => f.question === 'zonal shift')?.found).toBe('traffic is away from euw1-az2');
    for (const call of calls)
      expect(call).toMatch(/^[\w-]+ (get|describe|list)-[\w-]+ .*--region eu-west-1( |$)/);
  });

  const eks = (change: object) => ({
    'eks describe-cluster': {
      cluster: { ...(healthy['eks describe-cluster'] as { cluster: object }).cluster, ...change },
    },
  });

  it.each<[string, Answers, string, RegExp]>([
    [
      'a new account',
      { 'lambda get-account-settings': { AccountLimit: { ConcurrentExecutions: 10 } } },
      'hub: concurrent executions of Lambda',
      /: 10$/,
    ],
    [
      'a topic that is not there',
      { [`sns get-topic-attributes ${topicArn('page')}`]: absent },
      'hub: pageTopicArn',
      /create-topic --name page/,
    ],
    [
      'a topic that alarms may not use',
      {
        [`sns get-topic-attributes ${topicArn('page')}`]: {
          Attributes: { Policy: policy('events.amazonaws.com') },
        },
      },
      'hub: pageTopicArn',
      /sns:Publish/,
    ],
    [
      'a topic with the key of SNS, whose policy is fixed',
      {
        [`sns get-topic-attributes ${topicArn('page')}`]: {
          Attributes: { Policy: policy('cloudwatch.amazonaws.com'), KmsMasterKeyId: 'alias/aws/sns' },
        },
      },
      'hub: pageTopicArn',
      /kms:GenerateDataKey/,
    ],
    [
      'an account whose other functions reserve most executions',
      {
        'lambda get-account-settings': {
          AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 300 },
        },
      },
      'hub: concurrent executions of Lambda',
      /hub\.lambdaConcurrencyLimit: 300$/,
    ],
    [
      'an account full of stacks',
      { 'cloudformation describe-account-limits': { AccountLimits: [{ Name: 'StackLimit', Value: 4 }] } },
      'hub: stacks of CloudFormation',
      /"Stack count"/,
    ],
    [
      'an account full of roles',
      { 'iam get-account-summary': { SummaryMap: { Roles: 1000, RolesQuota: 1000 } } },
      'hub: roles of IAM',
      /"Roles per account"/,
    ],
    [
      'a key that is disabled',
      { [`kms describe-key ${keyArn}`]: { KeyMetadata: { KeyState: 'Disabled' } } },
      'hub: encryption.logs',
      /enabled key/,
    ],
    [
      'a key that the logs may not use',
      { [`kms get-key-policy ${keyArn}`]: { Policy: policy() } },
      'hub: encryption.logs',
      /logs\.eu-west-1\.amazonaws\.com/,
    ],
    [
      "a secret's key that admits one of the hub's two roles",
      {
        [`kms get-key-policy ${secretKeyArn}`]: { Policy: accountPolicyText('role/Fleet-eu-west-1-worker') },
      },
      'own: key of the secret',
      /arn:aws:iam::111122223333:root/,
    ],
    [
      'an EKS older than the oldest tested version',
      eks({ version: '1.30' }),
      'shop: version of EKS',
      /upgrade it to v1\.31 or newer/,
    ],
    [
      'another authority',
      eks({ certificateAuthority: { data: Buffer.from('other').toString('base64') } }),
      'shop: api.ca and api.url',
      /give api\.ca: b3RoZXI=/,
    ],
    [
      'another address',
      eks({ endpoint: 'https://other.example' }),
      'shop: api.ca and api.url',
      /give api\.url: https:\/\/other\.example/,
    ],
    [
      'an EKS without access entries',
      eks({ accessConfig: undefined }),
      'shop: authentication mode of EKS',
      /authenticationMode=API_AND_CONFIG_MAP/,
    ],
    [
      'a cluster that ARC does not know, though EKS has zonal shift enabled',
      { [`arc-zonal-shift get-managed-resource arn:aws:eks:eu-west-1:111122223333:cluster/shop`]: absent },
      'shop: zonal shift',
      /aws eks update-cluster-config --name shop --region eu-west-1 --zonal-shift-config enabled=true/,
    ],
    [
      'an EKS without the agent',
      { 'eks describe-addon': absent },
      'shop: Pod Identity agent',
      /create-addon/,
    ],
    [
      'an association of another hub',
      {
        'eks describe-pod-identity-association': {
          association: { roleArn: 'arn:aws:iam::111122223333:role/Canary-eu-west-1-shop-relay' },
        },
      },
      'shop: Pod Identity association',
      /association: false/,
    ],
    ['a secret that is not there', { 'secretsmanager get-secret-value': absent }, 'own: secret', /"token"/],
    [
      'a secret that does not parse',
      { 'secretsmanager get-secret-value': { SecretString: '{}' } },
      'own: secret',
      /"token"/,
    ],
    [
      'a token that ends within a week',
      {
        'secretsmanager get-secret-value': {
          SecretString: JSON.stringify({ token: tokenUntil(now + 86_400_000) }),
        },
      },
      'own: secret',
      /new ones/,
    ],
  ])('%s is the one finding that is wrong, with what to do', async (_, changes, question, todo) => {
    const { findings } = await asked(changes);
    expect(of(findings, 'wrong')).toEqual([question]);
    const lines = findings.filter((f) => f.verdict === 'wrong').flatMap(findingLines);
    expect(lines[0]).toContain(`WRONG   ${question}: `);
    expect(lines[1]).toMatch(todo);
  });

  it('a quota counts what the deploy adds: stacks that exist, and their roles, are there already', async () => {
    const found = async (changes: Answers) =>
      (await asked(changes)).findings
        .filter(({ question }) => /stacks|roles/.test(question))
        .map((finding) => finding.found);
    expect(await found({})).toEqual(['4 of 2000, and the file adds 1', '40 of 1000, and the file adds 1']);
    expect(await found({ 'cloudformation describe-stacks': [] })).toEqual([
      '0 of 2000, and the file adds 4',
      '40 of 1000, and the file adds 6',
    ]);
  });

  it.each(['gradual', 'at-once'])(
    'with rollout %s the stacks make as many roles as are counted',
    (rollout) => {
      const yaml = `
hub: { name: Fleet, rollout: ${rollout} }
clusters:
  - { id: shop, relay: { identity: { type: pod-identity, clusterName: shop } } }
  - { id: own, relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/own" } } }`;
      const { snapshot, hub, clusters } = fleetOf(yaml);
      const roles = [snapshot, hub, ...clusters].map(
        (stack) => Object.keys(Template.fromStack(stack).findResources('AWS::IAM::Role')).length,
      );
      const planned = plannedOf(parseConfig('clusters.yaml', yaml), []);
      expect(planned).toEqual({ stacks: roles.length, roles: roles.reduce((a, b) => a + b, 0) });
    },
  );

  it('a right that is missing makes an answer unknown, and no other one', async () => {
    const refuses = (): never => {
      throw new UsageError('aws lambda get-account-settings: An error occurred (AccessDeniedException)');
    };
    const { findings } = await asked({ 'lambda get-account-settings': refuses });
    expect([of(findings, 'unknown'), of(findings, 'wrong')]).toEqual([
      ['hub: concurrent executions of Lambda'],
      [],
    ]);
  });

  it('an API server that is silent here may answer the hub’s VPC, and one of an unknown authority is wrong', async () => {
    const rejecting = (message: string) => async (): Promise<void> => Promise.reject(new Error(message));
    expect(of((await asked({}, rejecting('timed out after 5000 ms'))).findings, 'unknown')).toHaveLength(2);
    expect(
      of((await asked({}, rejecting('unable to verify the first certificate'))).findings, 'wrong'),
    ).toHaveLength(2);
    await expect(
      reachApi({ url: 'https://127.0.0.1:1', ca: authority, auth: { type: 'web-identity', audience: 'a' } }),
    ).rejects.toThrow('ECONNREFUSED');
  });

  it('a cluster without zonal shift is fine, and ARC is asked nothing', async () => {
    const { findings, calls } = await asked(eks({ zonalShiftConfig: { enabled: false } }));
    expect(of(findings, 'fine')).toContain('shop: zonal shift');
    expect(calls.filter((call) => call.startsWith('arc-'))).toEqual([]);
  });

  it('Auto Mode of EKS has the agent without the add-on', async () => {
    const { findings } = await asked({
      ...eks({ computeConfig: { enabled: true } }),
      'eks describe-addon': absent,
    });
    expect(of(findings, 'wrong')).toEqual([]);
  });

  it('--policy has the right to each call that is made, and of secrets to those of the file alone', async () => {
    const { calls } = await asked();
    const operation = (name: string): string =>
      name.replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
    const made = [
      ...new Set(
        calls
          .map((call) => call.split(' '))
          .map(([service = '', name = '']) => `${service}:${operation(name)}`),
      ),
    ].sort();
    const { Statement } = accountPolicy(file) as {
      Statement: { Action: string | string[]; Resource: unknown }[];
    };
    // AWS requires it of describe-stacks without a name.
    expect(Statement.flatMap(({ Action }) => Action).sort()).toEqual(
      [...made, 'cloudformation:ListStacks'].sort(),
    );
    expect(Statement[1]).toMatchObject({ Action: 'secretsmanager:GetSecretValue', Resource: [secretArn] });
  });
});
