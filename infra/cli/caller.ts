import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

/** Resolves to the ARN of the credentials' owner, which needs no right in IAM. */
export const callerArn = async (): Promise<string> => (await new STSClient({}).send(new GetCallerIdentityCommand({}))).Arn ?? '';
