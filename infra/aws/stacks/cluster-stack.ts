import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import type { IFleetHub } from '#infra/aws/constructs/hub-interface.ts';
import type { ClusterConfig } from '#infra/config/config.ts';

export interface ClusterStackProps extends StackProps {
  readonly hub: IFleetHub;
  readonly cluster: ClusterConfig;
}

/** The stack of one cluster. */
export class ClusterStack extends Stack {
  constructor(scope: Construct, id: string, { hub, cluster, ...props }: ClusterStackProps) {
    super(scope, id, props);
    // The id leaves no trace in the logical ids: they are as if the construct's parts were the stack's own.
    const made = new FleetCluster(this, 'Default', { hub, ...cluster });
    // `relay manifest` reads the clusters file instead.
    made.node.tryRemoveChild('RelaySettings');
  }
}
