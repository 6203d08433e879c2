import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { HubConfig } from '#infra/config/config.ts';
import { dirtyIndex, tableKey, ttlAttribute } from '#shared/contract/table-attributes.ts';

export type SnapshotConfig = Partial<Pick<HubConfig, 'encryption' | 'warmThroughput'>>;

/** The one table. Its construct ids are a contract: a changed one replaces the table. */
export class Snapshot extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, { encryption, warmThroughput }: SnapshotConfig = {}) {
    super(scope, id);
    const warm = warmThroughput && {
      warmThroughput: { readUnitsPerSecond: warmThroughput.reads, writeUnitsPerSecond: warmThroughput.writes },
    };
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: tableKey.partition, type: AttributeType.STRING },
      sortKey: { name: tableKey.sort, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      ...(encryption?.table && { encryption: TableEncryptionV2.customerManagedKey(Key.fromKeyArn(this, 'Key', encryption.table)) }),
      ...warm,
      removalPolicy: RemovalPolicy.RETAIN,
      globalSecondaryIndexes: [
        {
          indexName: dirtyIndex.name,
          partitionKey: { name: dirtyIndex.partition, type: AttributeType.STRING },
          sortKey: { name: dirtyIndex.sort, type: AttributeType.NUMBER },
          projectionType: ProjectionType.KEYS_ONLY,
          ...warm,
        },
      ],
    });
  }

  get dirtyIndexArn(): string {
    return `${this.table.tableArn}/index/${dirtyIndex.name}`;
  }
}
