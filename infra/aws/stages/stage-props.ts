import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { HubConfig } from '#infra/config/config.ts';

/** Properties of every stage of the hub. */
export interface StageProps {
  readonly hub: {
    readonly name: string;
    readonly logRetentionDays: RetentionDays;
    readonly clusterMetrics: HubConfig['clusterMetrics'];
    readonly encryption: HubConfig['encryption'];
  };
  readonly table: TableV2;
}
