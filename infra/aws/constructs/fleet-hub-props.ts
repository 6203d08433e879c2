import type { RemovalPolicy } from 'aws-cdk-lib';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { Snapshot as FleetTable } from '#infra/aws/stages/snapshot-table.ts';
import type { VpcConfig } from '#infra/config/config.ts';
import type { ClusterInput, HubInput } from './props.ts';

export interface FleetHubProps extends HubInput {
  /**
   * The name begins the names of queues, roles, functions' logs and dashboards. It has 1 to 20 letters and
   * digits, and begins with a letter.
   * @default - made of the stack's name and the construct's path
   */
  readonly name?: string | undefined;
  /**
   * The hub writes to these clusters of other apps, besides each FleetCluster of this app. Patterns of
   * `access` serve the same purpose. @default []
   */
  readonly clusters?: readonly ClusterInput[] | undefined;
  /**
   * The hub uses this table. In a stack of its own a table outlives the hub's other resources. @default - a
   * table of the hub's own
   */
  readonly table?: FleetTable | undefined;
  /**
   * With DESTROY the hub's own table is deleted with its stack, without deletion protection. @default
   * RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy | undefined;
  /** Sync and sweep run in this VPC, to reach private API servers. @default - no VPC */
  readonly vpc?: IVpc | undefined;
  /**
   * Sync and sweep are in these subnets of the VPC, which have routes to the API servers and to AWS. @default
   * - the private subnets
   */
  readonly vpcSubnets?: SubnetSelection | undefined;
  /** Sync and sweep have these security groups. @default - a group of its own for each function */
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
  /**
   * In the VPC sync and sweep use this proxy (http://HOST:PORT) for all HTTPS: AWS and the API servers.
   * @default - no proxy
   */
  readonly httpsProxy?: string | undefined;
  /** Sync and sweep reach these hosts without the proxy. @default [] */
  readonly noProxy?: readonly string[] | undefined;
}

/** The network as clusters.yaml has it. */
export function vpcConfig(
  vpc: IVpc,
  { vpcSubnets, securityGroups = [], httpsProxy, noProxy }: FleetHubProps,
): Partial<VpcConfig> {
  const { subnetIds } = vpc.selectSubnets(vpcSubnets);
  return {
    vpcId: vpc.vpcId,
    subnetIds,
    securityGroupIds: securityGroups.map((group) => group.securityGroupId),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy && { noProxy }),
  };
}
