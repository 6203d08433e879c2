import { Stack, type StackProps } from 'aws-cdk-lib';
import { SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import type { FleetHubProps } from '#infra/aws/constructs/fleet-hub-props.ts';
import type { Snapshot } from '#infra/aws/stages/snapshot-table.ts';
import type { Config, VpcConfig } from '#infra/config/config.ts';

export interface HubStackProps extends StackProps {
  readonly config: Config;
  readonly snapshot: Snapshot;
}

/** Everything that all clusters share, but the table. */
export class HubStack extends Stack {
  readonly hub: FleetHub;

  constructor(
    scope: Construct,
    id: string,
    { config: { hub, clusters }, snapshot, ...props }: HubStackProps,
  ) {
    super(scope, id, props);
    const { account: _, region: __, capacity: ___, vpc, encryption, ...settings } = hub;
    const { queues, logs } = encryption;
    // The id leaves no trace in the logical ids: they are as if the construct's parts were the stack's own.
    this.hub = new FleetHub(this, 'Default', {
      ...settings,
      encryption: { queues, logs },
      clusters,
      table: snapshot,
      ...(vpc && this.#networkOf(vpc)),
    });
  }

  /** By reference: nothing is looked up at synth. */
  #networkOf({ vpcId, subnetIds, securityGroupIds, httpsProxy, noProxy }: VpcConfig): Partial<FleetHubProps> {
    return {
      vpc: Vpc.fromVpcAttributes(this, 'Vpc', {
        vpcId,
        availabilityZones: subnetIds.map((_, i) => `zone-${i}`),
        privateSubnetIds: [...subnetIds],
      }),
      vpcSubnets: { subnets: subnetIds.map((id) => Subnet.fromSubnetId(this, id, id)) },
      securityGroups: securityGroupIds.map((id) =>
        SecurityGroup.fromSecurityGroupId(this, id, id, { mutable: false }),
      ),
      httpsProxy,
      noProxy,
    };
  }
}
