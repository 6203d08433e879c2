/** `config check --account`: asks AWS, by calls that read, what no synthesis knows. */

import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Config } from '#infra/config/config.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { type AccountDeps, checkCluster } from './account-cluster.ts';
import { type Finding, lacksRegion } from './account-finding.ts';
import { checkHub } from './account-hub.ts';
import { checkQuotas } from './account-quotas.ts';

export async function checkAccount(deps: AccountDeps, config: Config): Promise<readonly Finding[]> {
  const { hub, clusters } = config;
  const quotas = await checkQuotas(deps.aws, config);
  // All further questions would have the same answer.
  if (quotas.some(lacksRegion))
    throw new UsageError(
      'no region: set hub.region in the clusters file, AWS_REGION, or the region of your AWS profile (aws configure)',
    );
  const findings: Finding[] = [...quotas, ...(await checkHub(deps.aws, hub))];
  // One after the other: the command line of AWS is a process for each question.
  for (const cluster of clusters) findings.push(...(await checkCluster(deps, hub, cluster)));
  return findings;
}

/** A refusal is an answer too: no credentials are sent. */
export const reachApi: AccountDeps['reach'] = async ({ url, ca }) => {
  const transport = httpTransport({ server: url, ...(ca && { ca }) }, { timeoutMs: 5_000 });
  try {
    await transport.request('GET', '/version');
  } finally {
    transport.close();
  }
};

const marks = { fine: 'ok     ', wrong: 'WRONG  ', unknown: 'unknown' } as const;

export const findingLines = ({ subject, question, verdict, found, todo }: Finding): readonly string[] => [
  `${marks[verdict]} ${subject}: ${question}: ${found}`,
  ...(todo ? [`        ${todo}`] : []),
];

/** The rights that the questions about this file need. */
export function accountPolicy({ hub, clusters }: Config): object {
  const secrets = clusters.flatMap(({ api }) => (api?.auth.type === 'secret' ? [api.auth.secretArn] : []));
  const reads = [
    'lambda:GetAccountSettings',
    'cloudformation:DescribeAccountLimits',
    'cloudformation:DescribeStacks',
    // describe-stacks without a name needs it too.
    'cloudformation:ListStacks',
    'iam:GetAccountSummary',
    'eks:DescribeCluster',
    'eks:DescribeAddon',
    'eks:ListPodIdentityAssociations',
    'eks:DescribePodIdentityAssociation',
    'arc-zonal-shift:GetManagedResource',
    'kms:DescribeKey',
    'kms:GetKeyPolicy',
    ...(hub.pageTopicArn || hub.ticketTopicArn ? ['sns:GetTopicAttributes'] : []),
  ];
  return {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: reads, Resource: '*' },
      ...(secrets.length > 0
        ? [{ Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: secrets }]
        : []),
    ],
  };
}
