import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Finding } from '#infra/cli/account/account-finding.ts';
import type { Environment, LocalCloud } from '#test/support/aws/local-cloud.ts';
import { eventually } from './operator.ts';
import { pageCommand } from './page-command.ts';
import type { Step } from './step.ts';
import { EksCluster } from './ways-in/eks.ts';

/**
 * `config check --account` before a first deploy, and the pages' commands that prepare an account. No stack
 * is deployed.
 */
export function account(cloud: LocalCloud, folder: string): readonly Step[] {
  const file = join(folder, 'clusters.yaml');
  let checker: Environment = {};
  let topicArn = '';
  let secretArn = '';

  async function writeClustersFile(lambdaConcurrencyLimit: number): Promise<void> {
    const clusters = [
      {
        id: 'shop',
        // The local cloud itself stands for an API server with an authority of its own.
        api: {
          url: cloud.url,
          ca: await readFile(cloud.reach['NODE_EXTRA_CA_CERTS'] ?? '', 'utf8'),
          auth: { type: 'secret', secretArn },
        },
        concurrency: { ingest: 2, sync: 2 },
        relay: { identity: { type: 'pod-identity', clusterName: 'shop' } },
      },
    ];
    const hub = {
      name: 'Checked',
      account: cloud.account,
      region: cloud.region,
      lambdaConcurrencyLimit,
      pageTopicArn: topicArn,
    };
    await writeFile(file, stringify({ hub, clusters }));
  }

  async function answers(env: Environment): Promise<{
    readonly code: number;
    readonly verdicts: { readonly [question: string]: Finding['verdict'] };
  }> {
    const { code, out } = await config(['check', file, '--account', '--json'], env);
    const findings = JSON.parse(out) as readonly Finding[];
    return {
      code,
      verdicts: Object.fromEntries(
        findings.map(({ subject, question, verdict }) => [`${subject}: ${question}`, verdict]),
      ),
    };
  }

  /** An identity of IAM with this policy, or without any right. */
  async function userWith(UserName: string, PolicyDocument?: string): Promise<Environment> {
    await cloud.call('iam', 'create_user', { UserName });
    if (PolicyDocument)
      await cloud.call('iam', 'put_user_policy', { UserName, PolicyName: 'rights', PolicyDocument });
    const { AccessKey } = (await cloud.call('iam', 'create_access_key', { UserName })) as {
      readonly AccessKey: { readonly AccessKeyId: string; readonly SecretAccessKey: string };
    };
    return {
      ...cloud.administrator,
      AWS_ACCESS_KEY_ID: AccessKey.AccessKeyId,
      AWS_SECRET_ACCESS_KEY: AccessKey.SecretAccessKey,
    };
  }

  return [
    {
      fact: 'config check --account finds what the account lacks, with the rights that --policy prints and no others',
      async check() {
        await EksCluster.create(cloud, 'shop');
        topicArn = ((await cloud.call('sns', 'create_topic', { Name: 'page' })) as { TopicArn: string })
          .TopicArn;
        secretArn = JSON.parse(await pageCommand(cloud, 'aws secretsmanager create-secret')).ARN;
        await writeClustersFile(1000);
        const { out: policy } = await config(['check', file, '--policy'], cloud.administrator);
        checker = await userWith('checker', policy);
        assert.deepEqual(await answers(checker), {
          code: 1,
          verdicts: {
            'hub: concurrent executions of Lambda': 'wrong',
            // The local cloud lacks the quota of stacks, and its EKS describes a cluster without an API
            // server.
            'hub: stacks of CloudFormation': 'unknown',
            'shop: version of EKS': 'unknown',
            'shop: Pod Identity agent': 'unknown',
            'hub: roles of IAM': 'fine',
            'hub: pageTopicArn': 'fine',
            'shop: Pod Identity association': 'fine',
            'shop: secret': 'wrong',
            'shop: API server, from this machine': 'fine',
          },
        });
      },
    },
    {
      fact: 'without these rights the answers are unknown',
      async check() {
        const { verdicts } = await answers(await userWith('stranger'));
        // The local cloud gives everybody the settings of Lambda.
        const {
          'hub: concurrent executions of Lambda': _,
          'shop: API server, from this machine': server,
          ...asked
        } = verdicts;
        assert.deepEqual([server, new Set(Object.values(asked))], ['fine', new Set(['unknown'])]);
      },
    },
    {
      fact: 'after the page’s commands for the agent, the secret and the quota nothing is wrong',
      async check() {
        await pageCommand(cloud, 'aws eks create-addon', { values: { C: 'shop' } });
        await pageCommand(cloud, 'aws secretsmanager put-secret-value', { env: { token: 'opaque' } });
        const { AccountLimit } = JSON.parse(await pageCommand(cloud, 'aws lambda get-account-settings'));
        await writeClustersFile(AccountLimit.ConcurrentExecutions);
        const { code, verdicts } = await answers(checker);
        assert.equal(code, 0);
        assert.deepEqual(
          Object.values(verdicts).filter((verdict) => verdict === 'wrong'),
          [],
        );
        for (const question of [
          'hub: concurrent executions of Lambda',
          'shop: Pod Identity agent',
          'shop: secret',
        ])
          assert.equal(verdicts[question], 'fine', question);
      },
    },
    {
      fact: 'IAM trusts the issuer of a control plane by the page’s command',
      async check() {
        const { OpenIDConnectProviderArn } = JSON.parse(
          await pageCommand(cloud, 'aws iam create-open-id-connect-provider'),
        );
        const found = await cloud.call('iam', 'get_open_id_connect_provider', { OpenIDConnectProviderArn });
        assert.deepEqual((found as { ClientIDList: readonly string[] }).ClientIDList, ['sts.amazonaws.com']);
      },
    },
    {
      fact: 'the runbook’s command restores a table as it was before, beside it',
      async check() {
        const TableName = 'Checked-snapshot';
        const key = { pk: { S: 'CLUSTERS' }, sk: { S: 'shop' } };
        await cloud.call('dynamodb', 'create_table', {
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
        });
        await pageCommand(cloud, 'aws dynamodb update-continuous-backups', {
          env: { TABLE_NAME: TableName },
        });
        await cloud.call('dynamodb', 'put_item', { TableName, Item: key });
        const values = { '…': new Date().toISOString() };
        await pageCommand(cloud, 'aws dynamodb restore-table-to-point-in-time', {
          values,
          env: { TABLE_NAME: TableName },
        });
        await eventually('the restored item', async () => {
          const { Item } = (await cloud.call('dynamodb', 'get_item', { TableName: 'before', Key: key })) as {
            Item?: object;
          };
          return Item !== undefined;
        });
        assert.match(await pageCommand(cloud, 'aws dynamodb list-tables'), /Checked-snapshot[\s\S]*before/);
      },
    },
  ];
}

/** Runs `fleet-endpoints config`, whose exit code is part of the answer. */
function config(
  args: readonly string[],
  env: Environment,
): Promise<{ readonly code: number; readonly out: string }> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['infra/cli/command/fleet-endpoints.main.ts', 'config', ...args],
      { env },
      (error, out, err) => {
        const code = error ? Number(error.code) : 0;
        if (code > 1 || Number.isNaN(code)) reject(new Error(err));
        else resolve({ code, out });
      },
    );
  });
}
