import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';
import {
  registrationProperty,
  registrationVersion,
  removalGuard,
} from '#shared/contract/registration-property.ts';
import type { ClusterQueues } from './cluster-queues.ts';
import { HubFunction, identityKeys } from './function.ts';
import { registrationRecord } from './registration-record.ts';
import type { StageProps } from './stage-props.ts';

/**
 * The function behind `Registration`: clusters are written to the table by their own stacks, as Lambda's
 * environment holds 4 KB.
 */
export class Register extends Construct {
  readonly function: HubFunction;

  constructor(scope: Construct, id: string, { hub, table }: StageProps) {
    super(scope, id);
    this.function = new HubFunction(this, 'Register', {
      code: 'register',
      description: 'registers clusters with the hub, and drains deregistered ones',
      hub,
      table,
      memoryMiB: 256,
      // It may wait for a run of sweep that purges the records of a former cluster.
      timeout: Duration.seconds(90),
      asynchronous: {
        why: 'CloudFormation waits for the answer, and its deployment fails without one: nothing is lost that a dead letter would keep',
      },
    });
    allowRegistration(this.function, table);
    this.function.useKeys('table');
  }
}

/** Only the records of clusters as such: register can touch neither snapshots nor work items. */
function allowRegistration(fn: HubFunction, table: TableV2): void {
  fn.role.addToPolicy(
    new PolicyStatement({
      effect: Effect.ALLOW,
      // Two gets at a time go out as one BatchGetItem.
      actions: [
        'dynamodb:GetItem',
        'dynamodb:BatchGetItem',
        'dynamodb:PutItem',
        'dynamodb:UpdateItem',
        'dynamodb:DeleteItem',
      ],
      resources: [table.tableArn],
      // ForAllValues holds for a request without the key too.
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['CLUSTER#*', ...identityKeys] },
        Null: { 'dynamodb:LeadingKeys': 'false' },
      },
    }),
  );
}

export interface RegistrationProps {
  readonly register: IFunction;
  /** From clusters.yaml. A new value registers every cluster again. */
  readonly registrationNumber: number;
  readonly clusterset: HubConfig['clusterset'];
  readonly cluster: ClusterConfig;
  readonly queues: ClusterQueues;
  readonly parkedUrl: string;
  readonly quarantineUrl: string;
}

/**
 * The cluster's own record in the table. When it is taken out, the cluster drains: no endpoints are deleted.
 */
export class Registration extends Construct {
  constructor(
    scope: Construct,
    id: string,
    {
      register,
      registrationNumber,
      clusterset,
      cluster,
      queues,
      parkedUrl,
      quarantineUrl,
    }: RegistrationProps,
  ) {
    super(scope, id);
    const urls = {
      events: queues.events.queueUrl,
      syncs: queues.syncs.queueUrl,
      parked: parkedUrl,
      quarantine: quarantineUrl,
    };
    const registration = registrationRecord(
      cluster,
      { clusterset },
      { urls, eventsArn: queues.events.queueArn, syncsArn: queues.syncs.queueArn },
    );
    const { property, value } = registrationVersion;
    new CustomResource(this, 'Cluster', {
      serviceToken: register.functionArn,
      resourceType: 'Custom::FleetEndpointsCluster',
      serviceTimeout: Duration.minutes(2),
      // One text: CloudFormation turns the numbers and flags of properties into text.
      properties: {
        [registrationProperty]: Stack.of(this).toJsonString(registration),
        [property]: registrationNumber === 0 ? value : `${value}.${registrationNumber}`,
      },
    });
  }
}

/**
 * Depends on all else of the cluster, so that CloudFormation deletes it first. Its deletion fails while
 * slices by opt-in would stay without a writer.
 */
export class RemovalGuard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { register, cluster }: { readonly register: IFunction; readonly cluster: string },
  ) {
    super(scope, id);
    new CustomResource(this, 'Guard', {
      serviceToken: register.functionArn,
      resourceType: removalGuard.type,
      serviceTimeout: Duration.minutes(2),
      properties: { [removalGuard.property]: cluster },
    });
  }
}
