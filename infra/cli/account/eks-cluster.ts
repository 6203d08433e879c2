/** An EKS cluster as EKS describes it: its API server's address and authority, which clusters.yaml needs. */

import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type Aws, inRegion } from './aws-cli.ts';

export interface EksCluster {
  readonly name: string;
  readonly arn: string;
  readonly region: string;
  readonly url: string;
  /** base64 of PEM. */
  readonly ca: string;
  readonly version: string;
  readonly authenticationMode: string;
  /** Its nodes have the Pod Identity agent. */
  readonly isAutoMode: boolean;
  /** EKS takes the pods of a zone out of the endpoints during a zonal shift. */
  readonly hasZonalShift: boolean;
}

interface Described {
  readonly arn?: string;
  readonly endpoint?: string;
  readonly version?: string;
  readonly certificateAuthority?: { readonly data?: string };
  readonly accessConfig?: { readonly authenticationMode?: string };
  readonly computeConfig?: { readonly enabled?: boolean };
  readonly zonalShiftConfig?: { readonly enabled?: boolean };
}

/** Throws a UsageError if EKS does not answer, or if the cluster's API server does not exist yet. */
export async function describeEks(aws: Aws, name: string, region?: string): Promise<EksCluster> {
  const { cluster } = (await aws('eks', 'describe-cluster', '--name', name, ...inRegion(region))) as {
    cluster?: Described;
  };
  const {
    arn = '',
    endpoint,
    version = '',
    certificateAuthority,
    accessConfig,
    computeConfig,
    zonalShiftConfig,
  } = cluster ?? {};
  if (!endpoint || !certificateAuthority?.data)
    throw new UsageError(`the EKS cluster ${name} has no API server: wait until it is ACTIVE`);
  return {
    name,
    arn,
    region: arn.split(':')[3] ?? '',
    url: endpoint,
    ca: certificateAuthority.data,
    version,
    // EKS leaves it out for clusters that are older than access entries.
    authenticationMode: accessConfig?.authenticationMode ?? 'CONFIG_MAP',
    isAutoMode: computeConfig?.enabled ?? false,
    hasZonalShift: zonalShiftConfig?.enabled ?? false,
  };
}

export const takesAccessEntries = ({ authenticationMode }: EksCluster): boolean =>
  authenticationMode !== 'CONFIG_MAP';

export const accessEntriesCommand = ({ name, region }: EksCluster): string =>
  `aws eks update-cluster-config --name ${name} --region ${region} --access-config authenticationMode=API_AND_CONFIG_MAP`;
