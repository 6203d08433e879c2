import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { commandClientConfig } from '#shared/aws-client-config.ts';

/** Resolves to the ARN of the credentials' owner, which needs no right in IAM. */
export const callerArn = async (): Promise<string> =>
  (await new STSClient(commandClientConfig).send(new GetCallerIdentityCommand({}))).Arn ?? '';
