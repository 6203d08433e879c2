import { Token } from 'aws-cdk-lib';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { hubShape } from '#infra/config/hub-shape.ts';
import { readValue } from '#infra/config/yaml-shape.ts';
import type { IFleetHub } from './hub-interface.ts';
import type { HubInput } from './props.ts';

/** The outputs of a hub's stack, and the settings that its clusters' stacks share. Both apps must have the same values. */
export interface FleetHubAttributes
  extends Pick<HubInput, 'name' | 'registrationEpoch' | 'operatorRoleArns' | 'encryption' | 'alarms' | 'clusterset' | 'runbookUrl' | 'region'> {
  readonly registerFunctionArn: string;
  readonly ingestFunctionArn: string;
  readonly syncFunctionArn: string;
  readonly ingestRoleArn: string;
  readonly syncRoleArn: string;
  readonly sweepRoleArn: string;
  readonly parkedQueueUrl: string;
  readonly quarantineQueueUrl: string;
}

export function importedHub(scope: Construct, id: string, attributes: FleetHubAttributes): IFleetHub {
  const {
    registerFunctionArn,
    ingestFunctionArn,
    syncFunctionArn,
    ingestRoleArn,
    syncRoleArn,
    sweepRoleArn,
    parkedQueueUrl,
    quarantineQueueUrl,
    ...hub
  } = attributes;
  class ImportedHub extends Construct implements IFleetHub {
    readonly settings = readValue(`FleetHub ${this.node.path}`, hub, hubShape, Token.isUnresolved);
    readonly registerFunction = LambdaFunction.fromFunctionArn(this, 'Register', registerFunctionArn);
    readonly ingestFunction = LambdaFunction.fromFunctionArn(this, 'Ingest', ingestFunctionArn);
    readonly syncFunction = LambdaFunction.fromFunctionArn(this, 'Sync', syncFunctionArn);
    readonly consumers = [];
    readonly ingestRoleArn = ingestRoleArn;
    readonly syncRoleArn = syncRoleArn;
    readonly sweepRoleArn = sweepRoleArn;
    readonly parkedQueueUrl = parkedQueueUrl;
    readonly quarantineQueueUrl = quarantineQueueUrl;
    /** Its own app knows. */
    missingAccess = (): undefined => undefined;
  }
  return new ImportedHub(scope, id);
}
