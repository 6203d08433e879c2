/**
 * A cluster needs EKS as the stacks and the relay expect it, an API server that answers, and a secret that
 * parses.
 */

import { oldestSupported, unsupportedVersion } from '#infra/cli/ask/explain/version-support.ts';
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';
import { relayRoleNameOf } from '#infra/config/role-names.ts';
import { relayServiceAccount } from '#infra/relay/relay-names.ts';
import { shiftsIn } from '#shared/clusters/api/arc-zonal-shift.ts';
import { credentialsOf } from '#shared/clusters/api/cluster-credentials.ts';
import { credentialEndMs } from '#shared/clusters/api/credential-end.ts';
import { type Finding, finding, fine, unlessAbsent, type Verdict, wrong } from './account-finding.ts';
import { checkKey } from './account-keys.ts';
import { type Aws, inRegion } from './aws-cli.ts';
import { accessEntriesCommand, describeEks, type EksCluster, takesAccessEntries } from './eks-cluster.ts';

export interface AccountDeps {
  readonly aws: Aws;
  /** Resolves if the API server answers a request with any status. Rejects with the reason. */
  readonly reach: (api: NonNullable<ClusterConfig['api']>) => Promise<void>;
  readonly now: () => number;
}

export function checkCluster(
  deps: AccountDeps,
  hub: HubConfig,
  cluster: ClusterConfig,
): Promise<readonly Finding[]> {
  const { id, api, relay } = cluster;
  const ask = (question: string, answer: Parameters<typeof finding>[2]): Promise<Finding> =>
    finding(id, question, answer);
  const auth = api?.auth;
  const checks: Promise<Finding>[] = [];
  // Another account's EKS does not answer the hub's credentials.
  const eks =
    auth?.type === 'eks' && !auth.roleArn
      ? auth
      : relay.identity.type === 'pod-identity'
        ? relay.identity
        : undefined;
  const described = eks && describeEks(deps.aws, eks.clusterName, eks.region ?? hub.region);
  // Each question reports a failure as its own.
  described?.catch(() => {});
  if (described)
    for (const [question, answer] of askedOfEks(deps, cluster))
      checks.push(ask(question, async () => answer(await described)));
  if (relay.identity.type === 'pod-identity') {
    const at = [
      '--cluster-name',
      relay.identity.clusterName,
      ...inRegion(relay.identity.region ?? hub.region),
    ];
    checks.push(ask('Pod Identity agent', () => agent(deps.aws, at, described)));
    checks.push(ask('Pod Identity association', () => association(deps.aws, at, hub, cluster)));
  }
  if (auth?.type === 'secret') {
    checks.push(ask('secret', () => secret(deps, auth.secretArn)));
    const { kmsKeyArn } = auth;
    if (kmsKeyArn)
      checks.push(ask('key of the secret', () => checkKey(deps.aws, hub, kmsKeyArn, ['worker', 'sweep'])));
  }
  if (api) checks.push(ask('API server, from this machine', () => answers(deps, api)));
  return Promise.all(checks);
}

type EksQuestion = readonly [question: string, answer: (eks: EksCluster) => Verdict | Promise<Verdict>];

function askedOfEks(deps: AccountDeps, { api, settings }: ClusterConfig): readonly EksQuestion[] {
  const auth = api?.auth;
  if (!api || auth?.type !== 'eks') return [['version of EKS', version]];
  return [
    ['version of EKS', version],
    ['api.ca and api.url', (eks) => address(eks, api)],
    ...(auth.accessEntry ? [['authentication mode of EKS', entries] as const] : []),
    ...(settings.zonalShift === 'follow'
      ? [['zonal shift', (eks: EksCluster) => zonalShift(deps, eks)] as const]
      : []),
  ];
}

/** EKS names minor versions alone. */
function version({ version: found }: EksCluster) {
  const unsupported = unsupportedVersion(`v${found}.0`);
  return unsupported
    ? wrong(unsupported, `upgrade it to ${oldestSupported} or newer (docs/operate/versions.md)`)
    : fine(found);
}

function address({ ca, url }: EksCluster, api: NonNullable<ClusterConfig['api']>) {
  const wanted = Buffer.from(ca, 'base64').toString().trim();
  if (api.ca?.trim() !== wanted)
    return wrong('api.ca is not the certificate authority of the cluster', `give api.ca: ${ca}`);
  return new URL(url).host === new URL(api.url).host
    ? fine('they are those of the cluster')
    : wrong(`the API server is ${url}`, `give api.url: ${url}`);
}

const entries = (eks: EksCluster) =>
  takesAccessEntries(eks)
    ? fine(eks.authenticationMode)
    : wrong(`${eks.authenticationMode}: the cluster takes no access entries`, accessEntriesCommand(eks));

/** What sweep asks once a minute. */
async function zonalShift({ aws, now }: AccountDeps, { name, arn, region, hasZonalShift }: EksCluster) {
  if (!hasZonalShift)
    return fine('not enabled for the cluster; aws eks update-cluster-config --zonal-shift-config enables it');
  const answer = await unlessAbsent(
    aws('arc-zonal-shift', 'get-managed-resource', '--resource-identifier', arn, ...inRegion(region)),
  );
  if (!answer)
    return wrong(
      'enabled for the cluster, and ARC does not know the cluster',
      `aws eks update-cluster-config --name ${name} --region ${region} --zonal-shift-config enabled=true`,
    );
  const zones = shiftsIn(answer, now()).map(({ zoneId }) => zoneId);
  return fine(zones.length > 0 ? `traffic is away from ${zones.join(', ')}` : 'no zone is away');
}

async function agent(aws: Aws, at: readonly string[], described: Promise<EksCluster> | undefined) {
  const answer = await unlessAbsent(
    aws('eks', 'describe-addon', '--addon-name', 'eks-pod-identity-agent', ...at),
  );
  const status = (answer as { addon?: { status?: string } } | undefined)?.addon?.status;
  if (status === 'ACTIVE') return fine('ACTIVE');
  if ((await described)?.isAutoMode) return fine('part of Auto Mode');
  return wrong(
    status ?? 'the add-on is not installed',
    `aws eks create-addon --addon-name eks-pod-identity-agent ${at.join(' ')}`,
  );
}

async function association(aws: Aws, at: readonly string[], hub: HubConfig, { id, relay }: ClusterConfig) {
  const who = ['--namespace', relay.namespace, '--service-account', relayServiceAccount];
  const { associations = [] } = (await aws('eks', 'list-pod-identity-associations', ...at, ...who)) as {
    associations?: { associationId: string }[];
  };
  const isOurs = relay.identity.type === 'pod-identity' && relay.identity.association;
  const [first] = associations;
  if (!first)
    return isOurs
      ? fine('none yet: the deploy makes it')
      : wrong('none', 'make one with the role of output RelayRoleArn, as association is false');
  const answer = await aws(
    'eks',
    'describe-pod-identity-association',
    ...at,
    '--association-id',
    first.associationId,
  );
  const roleArn = (answer as { association?: { roleArn?: string } }).association?.roleArn ?? '';
  // The hub's region may be unknown here.
  const [before = '', after = ''] = relayRoleNameOf(hub.name, hub.region ?? '\0', id).split('\0');
  const name = roleArn.split('/').at(-1) ?? '';
  if (name.startsWith(before) && name.endsWith(after)) return fine(roleArn);
  const todo = isOurs
    ? 'another hub has it, and EKS takes one: give association: false, and the association the role of this hub when the cluster moves'
    : `aws eks update-pod-identity-association ${at.join(' ')} --association-id ${first.associationId} --role-arn ARN, of output RelayRoleArn`;
  return wrong(`it is for ${roleArn}`, todo);
}

/**
 * A private API server answers the hub's VPC alone. Silence here may be right; an unknown certificate
 * authority is wrong.
 */
async function answers({ reach }: AccountDeps, api: NonNullable<ClusterConfig['api']>) {
  try {
    await reach(api);
    return fine('it answers');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!/certificate/i.test(message)) throw error;
    return wrong(message, 'give api.ca, the certificate authority of the API server');
  }
}

async function secret({ aws, now }: AccountDeps, arn: string) {
  const answer = await unlessAbsent(
    aws('secretsmanager', 'get-secret-value', '--secret-id', arn, ...inRegion(arn.split(':')[3])),
  );
  if (!answer)
    return wrong(
      'the secret does not exist, or has no value',
      'put {"token": …} into it (docs/operate/getting-started.md)',
    );
  const { SecretString = '' } = answer as { SecretString?: string };
  let endMs: number | undefined;
  try {
    endMs = credentialEndMs(credentialsOf(arn, SecretString));
  } catch (error) {
    return wrong((error as Error).message, 'put {"token": …} into it (docs/operate/getting-started.md)');
  }
  if (endMs === undefined) return fine('it has credentials that show no end');
  const end = new Date(endMs).toISOString();
  return endMs > now() + weekMs
    ? fine(`its credentials end at ${end}`)
    : wrong(`its credentials end at ${end}`, 'put new ones into it (docs/operate/getting-started.md)');
}

const weekMs = 7 * 86_400_000;
