/**
 * The hub needs of its account: topics that alarms may use, keys that services and its own functions may use.
 */
import type { HubConfig } from '#infra/config/config.ts';
import { type Finding, finding, fine, unlessAbsent, wrong } from './account-finding.ts';
import { checkKey, keyPolicy, unusableKey } from './account-keys.ts';
import { type Aws, inRegion } from './aws-cli.ts';

export function checkHub(aws: Aws, hub: HubConfig): Promise<readonly Finding[]> {
  const topics = (['pageTopicArn', 'ticketTopicArn'] as const).flatMap((name) => {
    const arn = hub[name];
    return arn ? [{ name, arn }] : [];
  });
  const { table, queues, logs } = hub.encryption;
  return Promise.all([
    ...topics.map(({ name, arn }) => finding('hub', name, () => topic(aws, hub, arn))),
    ...(table
      ? [finding('hub', 'encryption.table', () => checkKey(aws, hub, table, ['worker', 'sweep', 'register']))]
      : []),
    ...(queues
      ? [finding('hub', 'encryption.queues', () => checkKey(aws, hub, queues, ['worker', 'sweep']))]
      : []),
    ...(logs ? [finding('hub', 'encryption.logs', () => logsKey(aws, hub, logs))] : []),
  ]);
}

async function topic(aws: Aws, { region }: HubConfig, arn: string) {
  const topicRegion = arn.split(':')[3];
  if (region && topicRegion !== region)
    return wrong(
      `the topic is in ${topicRegion}`,
      `alarms reach topics of ${region}, the hub's region, alone`,
    );
  const answer = await unlessAbsent(
    aws('sns', 'get-topic-attributes', '--topic-arn', arn, ...inRegion(topicRegion)),
  );
  if (!answer)
    return wrong('the topic does not exist', `aws sns create-topic --name ${arn.split(':').at(-1)}`);
  const { Policy = '', KmsMasterKeyId } =
    (answer as { Attributes?: { Policy?: string; KmsMasterKeyId?: string } }).Attributes ?? {};
  // SNS writes a policy for the topic's own account, by AWS:SourceOwner.
  if (!/cloudwatch\.amazonaws\.com|AWS:SourceOwner/i.test(Policy))
    return wrong(
      "the topic's policy does not name cloudwatch.amazonaws.com",
      'let cloudwatch.amazonaws.com use sns:Publish',
    );
  if (!KmsMasterKeyId) return fine('alarms may publish');
  const policy = KmsMasterKeyId.includes('alias/aws/')
    ? ''
    : await keyPolicy(aws, KmsMasterKeyId, topicRegion);
  return policy.includes('cloudwatch.amazonaws.com')
    ? fine('alarms may publish, and use its key')
    : wrong(
        `alarms may not use its key ${KmsMasterKeyId}`,
        'encrypt the topic with a key whose policy lets cloudwatch.amazonaws.com use kms:Decrypt and kms:GenerateDataKey*',
      );
}

async function logsKey(aws: Aws, { region }: HubConfig, arn: string) {
  const unusable = await unusableKey(aws, arn);
  if (unusable) return unusable;
  const policy = await keyPolicy(aws, arn, arn.split(':')[3]);
  return /logs\.[a-z0-9-]+\.amazonaws\.com/.test(policy)
    ? fine('CloudWatch Logs may use the key')
    : wrong(
        "the key's policy does not name CloudWatch Logs",
        `let logs.${region ?? 'REGION'}.amazonaws.com use the key`,
      );
}
