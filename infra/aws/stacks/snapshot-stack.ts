import { Stack, type StackProps } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { Snapshot } from '#infra/aws/stages/snapshot-table.ts';
import type { HubConfig } from '#infra/config/config.ts';

/** All that must survive: apart, so that the rest can be replaced. */
export class SnapshotStack extends Stack {
  readonly snapshot: Snapshot;

  constructor(
    scope: Construct,
    id: string,
    {
      hub,
      ...props
    }: StackProps & { readonly hub?: Partial<Pick<HubConfig, 'capacity' | 'encryption'>> } = {},
  ) {
    super(scope, id, { terminationProtection: true, ...props });
    const { encryption, capacity } = hub ?? {};
    const encryptionKey = encryption?.table ? Key.fromKeyArn(this, 'Key', encryption.table) : undefined;
    this.snapshot = new Snapshot(this, 'Snapshot', { capacity, encryptionKey });
    this.exportValue(this.snapshot.table.tableName);
  }
}
