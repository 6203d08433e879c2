import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct, IDependable } from 'constructs';
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';

/** The attributes of a hub that the stack of a cluster uses. */
export interface IFleetHub extends IConstruct {
  readonly settings: Pick<
    HubConfig,
    | 'name'
    | 'registrationNumber'
    | 'operatorRoleArns'
    | 'encryption'
    | 'pageTopicArn'
    | 'ticketTopicArn'
    | 'clusterset'
    | 'runbookUrl'
  >;
  readonly registerFunction: IFunction;
  readonly workerFunction: IFunction;
  /**
   * The aliases that consume a cluster's queues, if the hub is of the same app: they must exist before the
   * first event source mapping names them.
   */
  readonly consumers: readonly IDependable[];
  readonly workerRoleArn: string;
  readonly sweepRoleArn: string;
  readonly parkedQueueUrl: string;
  readonly quarantineQueueUrl: string;
  /** The clusters that the hub knows so far; undefined for a hub of another app. */
  readonly clusters: readonly ClusterConfig[] | undefined;
  /** Gives the hub's functions their rights for a cluster. Throws if the hub cannot serve it. */
  admit(cluster: ClusterConfig): void;
}
