import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { hubShape } from '#infra/config/hub-shape.ts';
import type { IFleetHub } from './hub-interface.ts';
import type { HubInput } from './props.ts';
import { readProps } from './read-props.ts';

/**
 * The outputs of a hub's stack, and the settings that its clusters' stacks share. Both apps must have the
 * same values.
 */
export interface FleetHubAttributes
  extends Pick<
    HubInput,
    | 'registrationNumber'
    | 'operatorRoleArns'
    | 'encryption'
    | 'pageTopicArn'
    | 'ticketTopicArn'
    | 'clusterset'
    | 'runbookUrl'
  > {
  /** The hub has this name: the prop `name`, or output Name. */
  readonly name: string;
  /** Output RegisterFunctionArn has this ARN. */
  readonly registerFunctionArn: string;
  /** Output WorkerFunctionArn has this ARN. */
  readonly workerFunctionArn: string;
  /** Output WorkerRoleArn has this ARN. */
  readonly workerRoleArn: string;
  /** Output SweepRoleArn has this ARN. */
  readonly sweepRoleArn: string;
  /** Output ParkedQueueUrl has this URL. */
  readonly parkedQueueUrl: string;
  /** Output QuarantineQueueUrl has this URL. */
  readonly quarantineQueueUrl: string;
}

export function importedHub(scope: Construct, id: string, attributes: FleetHubAttributes): IFleetHub {
  const {
    registerFunctionArn,
    workerFunctionArn,
    workerRoleArn,
    sweepRoleArn,
    parkedQueueUrl,
    quarantineQueueUrl,
    ...hub
  } = attributes;
  class ImportedHub extends Construct implements IFleetHub {
    readonly settings = readProps(`FleetHub ${this.node.path}`, hub, hubShape);
    readonly registerFunction = LambdaFunction.fromFunctionArn(this, 'Register', registerFunctionArn);
    readonly workerFunction = LambdaFunction.fromFunctionArn(this, 'Worker', workerFunctionArn);
    readonly consumers = [];
    readonly workerRoleArn = workerRoleArn;
    readonly sweepRoleArn = sweepRoleArn;
    readonly parkedQueueUrl = parkedQueueUrl;
    readonly quarantineQueueUrl = quarantineQueueUrl;
    readonly clusters = undefined;
    /** The hub's own app grants the rights. */
    admit(): void {}
  }
  return new ImportedHub(scope, id);
}
