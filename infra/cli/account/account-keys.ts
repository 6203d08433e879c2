/**
 * Checks the policies of the KMS keys that the hub uses: its own key, and the keys of its topics and secrets.
 */
import type { HubConfig } from '#infra/config/config.ts';
import { roleNameOf } from '#infra/config/role-names.ts';
import { fine, unlessAbsent, wrong } from './account-finding.ts';
import { type Aws, inRegion } from './aws-cli.ts';

type Role = Parameters<typeof roleNameOf>[2];

/**
 * The key exists, is enabled, and admits the hub's account, whose roles then have the rights, or else these
 * roles by name.
 */
export async function checkKey(aws: Aws, hub: HubConfig, arn: string, roles: readonly Role[]) {
  const unusable = await unusableKey(aws, arn);
  if (unusable) return unusable;
  const [region = '', ofKey = ''] = arn.split(':').slice(3);
  const account = hub.account ?? ofKey;
  const policy = await keyPolicy(aws, arn, region);
  const names = (who: string): boolean => policy.includes(`:iam::${account}:${who}`);
  if (
    names('root') ||
    roles.every((role) => names(`role/${roleNameOf(hub.name, hub.region ?? region, role)}`))
  )
    return fine("the key's policy admits the hub");
  return wrong(
    `the key's policy does not name the account ${account}`,
    `let arn:aws:iam::${account}:root use the key: the hub's roles have the rights`,
  );
}

export async function unusableKey(aws: Aws, arn: string) {
  const answer = await unlessAbsent(
    aws('kms', 'describe-key', '--key-id', arn, ...inRegion(arn.split(':')[3])),
  );
  const state = (answer as { KeyMetadata?: { KeyState?: string } } | undefined)?.KeyMetadata?.KeyState;
  return state === 'Enabled'
    ? undefined
    : wrong(state ? `the key is ${state}` : 'the key does not exist', 'give the ARN of an enabled key');
}

export async function keyPolicy(aws: Aws, id: string, region: string | undefined): Promise<string> {
  const { Policy = '' } = (await aws(
    'kms',
    'get-key-policy',
    '--key-id',
    id,
    '--policy-name',
    'default',
    ...inRegion(region),
  )) as {
    Policy?: string;
  };
  return Policy;
}
