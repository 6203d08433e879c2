/** The hub needs of its account: concurrency, topics that alarms may use, keys that services may use. */
import type { HubConfig } from '#infra/config/config.ts';
import { type Finding, finding, fine, unlessAbsent, wrong } from './account-finding.ts';
import type { Aws } from './aws-cli.ts';

export function checkHub(aws: Aws, hub: HubConfig): Promise<readonly Finding[]> {
  const topics = Object.entries(hub.alarms).flatMap(([name, arn]) => (arn ? [{ name, arn: arn as string }] : []));
  const keys = Object.entries(hub.encryption).flatMap(([name, arn]) => (arn ? [{ name, arn: arn as string }] : []));
  return Promise.all([
    finding('hub', 'concurrent executions of Lambda', () => concurrency(aws, hub)),
    ...topics.map(({ name, arn }) => finding('hub', `alarms.${name}`, () => topic(aws, hub, arn, name === 'ticketTopicArn'))),
    ...keys.map(({ name, arn }) => finding('hub', `encryption.${name}`, () => key(aws, hub, name, arn))),
  ]);
}

async function concurrency(aws: Aws, { lambdaConcurrencyLimit: limit, region }: HubConfig) {
  const { AccountLimit = {} } = (await aws('lambda', 'get-account-settings', ...at(region))) as { AccountLimit?: { ConcurrentExecutions?: number } };
  const quota = AccountLimit.ConcurrentExecutions ?? 0;
  if (quota >= limit) return fine(`${quota}`);
  return wrong(
    `${quota}, and hub.lambdaConcurrencyLimit is ${limit}`,
    `have the quota "Concurrent executions" raised, or give hub.lambdaConcurrencyLimit: ${quota}`,
  );
}

async function topic(aws: Aws, { region, monthlyBudget }: HubConfig, arn: string, isTicket: boolean) {
  const topicRegion = arn.split(':')[3];
  if (region && topicRegion !== region) return wrong(`the topic is in ${topicRegion}`, `alarms reach topics of ${region}, the hub's region, alone`);
  const answer = await unlessAbsent(aws('sns', 'get-topic-attributes', '--topic-arn', arn, ...at(topicRegion)));
  if (!answer) return wrong('the topic does not exist', `aws sns create-topic --name ${arn.split(':').at(-1)}`);
  const { Policy = '', KmsMasterKeyId } = (answer as { Attributes?: { Policy?: string; KmsMasterKeyId?: string } }).Attributes ?? {};
  // SNS writes a policy for the topic's own account, by AWS:SourceOwner.
  if (!/cloudwatch\.amazonaws\.com|AWS:SourceOwner/i.test(Policy))
    return wrong("the topic's policy does not name cloudwatch.amazonaws.com", 'let cloudwatch.amazonaws.com use sns:Publish');
  if (isTicket && monthlyBudget !== undefined && !Policy.includes('budgets.amazonaws.com'))
    return wrong("the topic's policy does not name budgets.amazonaws.com", 'let budgets.amazonaws.com use sns:Publish, for hub.monthlyBudget');
  if (!KmsMasterKeyId) return fine('alarms may publish');
  const policy = KmsMasterKeyId.includes('alias/aws/') ? '' : await keyPolicy(aws, KmsMasterKeyId, topicRegion);
  return policy.includes('cloudwatch.amazonaws.com')
    ? fine('alarms may publish, and use its key')
    : wrong(
        `alarms may not use its key ${KmsMasterKeyId}`,
        'encrypt the topic with a key whose policy lets cloudwatch.amazonaws.com use kms:Decrypt and kms:GenerateDataKey*',
      );
}

async function key(aws: Aws, { region }: HubConfig, name: string, arn: string) {
  const answer = await unlessAbsent(aws('kms', 'describe-key', '--key-id', arn, ...at(arn.split(':')[3])));
  const state = (answer as { KeyMetadata?: { KeyState?: string } } | undefined)?.KeyMetadata?.KeyState;
  if (state !== 'Enabled') return wrong(state ? `the key is ${state}` : 'the key does not exist', 'give the ARN of an enabled key');
  if (name !== 'logs') return fine('the key is enabled');
  const policy = await keyPolicy(aws, arn, arn.split(':')[3]);
  return /logs\.[a-z0-9-]+\.amazonaws\.com/.test(policy)
    ? fine('CloudWatch Logs may use the key')
    : wrong("the key's policy does not name CloudWatch Logs", `let logs.${region ?? 'REGION'}.amazonaws.com use the key`);
}

async function keyPolicy(aws: Aws, id: string, region: string | undefined): Promise<string> {
  const { Policy = '' } = (await aws('kms', 'get-key-policy', '--key-id', id, '--policy-name', 'default', ...at(region))) as { Policy?: string };
  return Policy;
}

const at = (region: string | undefined): readonly string[] => (region ? ['--region', region] : []);
