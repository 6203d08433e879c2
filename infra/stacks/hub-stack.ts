import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '#infra/config/config.ts';
import { FleetHub } from '#infra/constructs/fleet-hub.ts';
import type { Snapshot } from '#infra/stages/snapshot-table.ts';

export interface HubStackProps extends StackProps {
  readonly config: Config;
  readonly snapshot: Snapshot;
}

/** Everything that all clusters share, but the table. */
export class HubStack extends Stack {
  readonly hub: FleetHub;

  constructor(scope: Construct, id: string, { config: { hub, clusters }, snapshot, ...props }: HubStackProps) {
    super(scope, id, props);
    // The id leaves no trace in the logical ids: they are as if the construct's parts were the stack's own.
    this.hub = new FleetHub(this, 'Default', { ...hub, clusters, table: snapshot });
  }
}
