import { Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

/** The key operations that each AWS service performs on behalf of its caller. */
export const keyUse = {
  table: {
    service: 'dynamodb',
    actions: [
      'kms:Decrypt',
      'kms:DescribeKey',
      'kms:Encrypt',
      'kms:GenerateDataKey',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
    ],
  },
  queues: { service: 'sqs', actions: ['kms:Decrypt', 'kms:GenerateDataKey'] },
} as const;

/** The keys through that service alone, never by themselves. */
export function useOfKeys(
  scope: Construct,
  keyArns: readonly string[],
  { service, actions }: { readonly service: string; readonly actions: readonly string[] },
  region = Stack.of(scope).region,
): PolicyStatement {
  return new PolicyStatement({
    effect: Effect.ALLOW,
    actions: [...actions],
    resources: [...keyArns],
    conditions: { StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` } },
  });
}
