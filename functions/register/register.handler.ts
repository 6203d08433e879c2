/** Lambda's entry of register: CloudFormation calls it for each cluster's custom resource. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { awsClientConfig } from '#shared/aws-client-config.ts';
import { hubEnv } from '#shared/contract/env.ts';
import { removalGuard } from '#shared/contract/registration-property.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { answer } from './answer.ts';
import { applyRegistration } from './apply-registration.ts';
import { applyRemovalGuard } from './apply-removal-guard.ts';

const tableName = process.env[hubEnv.tableName];
if (!tableName) throw new Error(`${hubEnv.tableName} is not set`);
const table = dynamoTable(new DynamoDBClient(awsClientConfig), tableName);

/** CloudFormation waits for the answer in case of a failure too. */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const work = event.ResourceType === removalGuard.type ? applyRemovalGuard : applyRegistration;
  await answer(event, () => work(table, event));
}
