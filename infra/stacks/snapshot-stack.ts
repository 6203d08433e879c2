import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Snapshot } from '#infra/stages/snapshot.ts';

/** All that must survive: apart, so that the rest can be replaced. */
export class SnapshotStack extends Stack {
  readonly snapshot: Snapshot;

  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    this.snapshot = new Snapshot(this, 'Snapshot');
    this.exportValue(this.snapshot.table.tableName);
  }
}
