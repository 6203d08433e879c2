import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  Capacity,
  ProjectionType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { CapacityConfig } from '#infra/config/config.ts';
import { dirtyIndex, tableKey, ttlAttribute } from '#shared/contract/table-attributes.ts';

export interface SnapshotProps {
  /**
   * Auto scaling provisions units a second for the table, and again for its index, so that 70 % are used.
   * Without it the table works on demand.
   */
  readonly capacity?: CapacityConfig | undefined;
  /** This KMS key encrypts the table; without it, an AWS-owned key does. The stack's region must be known. */
  readonly encryptionKey?: IKey | undefined;
  /**
   * With DESTROY the table is deleted with its stack, without deletion protection. @default
   * RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy | undefined;
}

/** Auto scaling provisions units so that this share of them is used. */
const targetUsePercent = 70;

/** The one table. Its construct ids are a contract: a changed one replaces the table. */
export class Snapshot extends Construct {
  readonly table: TableV2;
  readonly encryptionKey: IKey | undefined;

  constructor(
    scope: Construct,
    id: string,
    { capacity, encryptionKey, removalPolicy = RemovalPolicy.RETAIN }: SnapshotProps = {},
  ) {
    super(scope, id);
    this.encryptionKey = encryptionKey;
    const provisioned = capacity && scaledCapacity(capacity);
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: tableKey.partition, type: AttributeType.STRING },
      sortKey: { name: tableKey.sort, type: AttributeType.STRING },
      billing: provisioned ? Billing.provisioned(provisioned) : Billing.onDemand(),
      timeToLiveAttribute: ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
      ...(encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(encryptionKey) }),
      removalPolicy,
      globalSecondaryIndexes: [
        {
          indexName: dirtyIndex.name,
          partitionKey: { name: dirtyIndex.partition, type: AttributeType.STRING },
          sortKey: { name: dirtyIndex.sort, type: AttributeType.NUMBER },
          projectionType: ProjectionType.KEYS_ONLY,
          // A wake-up of every service writes as many units to the index as to the table, and a full index
          // refuses the table's writes too.
          ...provisioned,
        },
      ],
    });
  }

  get dirtyIndexArn(): string {
    return `${this.table.tableArn}/index/${dirtyIndex.name}`;
  }
}

function scaledCapacity({ minReads, maxReads, minWrites, maxWrites }: CapacityConfig): {
  readonly readCapacity: Capacity;
  readonly writeCapacity: Capacity;
} {
  // CloudFormation switches a table between on demand and provisioned only if each range has a seed. The
  // table provisions the seed at the switch, until auto scaling lowers it. A seed below the present load
  // would refuse requests.
  const within = (min: number, max: number): Capacity =>
    Capacity.autoscaled({
      minCapacity: min,
      maxCapacity: max,
      seedCapacity: max,
      targetUtilizationPercent: targetUsePercent,
    });
  return { readCapacity: within(minReads, maxReads), writeCapacity: within(minWrites, maxWrites) };
}
