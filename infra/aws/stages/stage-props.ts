import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';

/** Properties of every stage of the hub. */
export interface StageProps {
  readonly hub: {
    readonly name: string;
    readonly logRetentionDays: RetentionDays;
    readonly clusterMetrics: HubConfig['clusterMetrics'];
    readonly encryption: HubConfig['encryption'];
  };
  readonly table: TableV2;
}

/** The VPC that a function runs in. */
export interface Network {
  readonly vpc: IVpc;
  readonly vpcSubnets?: SubnetSelection | undefined;
  readonly securityGroups?: ISecurityGroup[] | undefined;
  readonly proxyEnv: { readonly [name: string]: string };
}

/** Properties of a stage that calls the clusters' APIs. */
export interface ReachingStageProps extends StageProps {
  readonly clusters: readonly ClusterConfig[];
  readonly access: HubConfig['access'];
  readonly network?: Network | undefined;
}
