import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** What every stage of the hub is given. */
export interface StageProps {
  readonly hub: { readonly name: string; readonly logRetentionDays: RetentionDays; readonly tracing: boolean; readonly reserveConcurrency: boolean };
  readonly table: TableV2;
}
