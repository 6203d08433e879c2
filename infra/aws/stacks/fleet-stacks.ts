import { type App, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import type { IFleetHub } from '#infra/aws/constructs/hub-interface.ts';
import type { ClusterConfig, Config } from '#infra/config/config.ts';
import { clusterStackName, hubStackName, snapshotStackName } from '#infra/config/stack-names.ts';
import { HubStack } from './hub-stack.ts';
import { SnapshotStack } from './snapshot-stack.ts';

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

export interface Fleet {
  readonly snapshot: SnapshotStack;
  readonly hub: HubStack;
  readonly clusters: readonly ClusterStack[];
}

/** All stacks of one installation. */
export function addFleet(app: App, config: Config): Fleet {
  const { name, account, region } = config.hub;
  const env = { ...(account && { account }), ...(region && { region }) };
  const snapshot = new SnapshotStack(app, snapshotStackName(name), {
    env,
    hub: config.hub,
    description: `${name}: the table, kept when all else goes`,
  });
  const hub = new HubStack(app, hubStackName(name), {
    env,
    config,
    snapshot: snapshot.snapshot,
    description: `${name}: functions, dead letters, alarms, dashboards`,
  });
  const clusters = config.clusters.map(
    (cluster) =>
      new ClusterStack(app, clusterStackName(name, cluster.id), {
        env,
        hub: hub.hub,
        cluster,
        description: `${name}: queues and relay identity of the cluster ${cluster.id}`,
      }),
  );
  return { snapshot, hub, clusters };
}
