import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { dirtyIndex, tableKey, ttlAttribute } from '#shared/contract/table.ts';

/** The one table. Its construct ids are a contract: a changed one replaces the table. */
export class Snapshot extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: tableKey.partition, type: AttributeType.STRING },
      sortKey: { name: tableKey.sort, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      globalSecondaryIndexes: [
        {
          indexName: dirtyIndex.name,
          partitionKey: { name: dirtyIndex.partition, type: AttributeType.STRING },
          sortKey: { name: dirtyIndex.sort, type: AttributeType.NUMBER },
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
    });
  }

  get dirtyIndexArn(): string {
    return `${this.table.tableArn}/index/${dirtyIndex.name}`;
  }
}
