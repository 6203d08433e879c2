import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Snapshot, type SnapshotConfig } from '#infra/stages/snapshot-table.ts';

/** All that must survive: apart, so that the rest can be replaced. */
export class SnapshotStack extends Stack {
  readonly snapshot: Snapshot;

  constructor(scope: Construct, id: string, { hub, ...props }: StackProps & { readonly hub?: SnapshotConfig } = {}) {
    super(scope, id, { terminationProtection: true, ...props });
    this.snapshot = new Snapshot(this, 'Snapshot', hub);
    this.exportValue(this.snapshot.table.tableName);
  }
}
