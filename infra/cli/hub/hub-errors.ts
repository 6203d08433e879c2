/** Errors of a deployed hub's table and queues, with the hub and the settings that a user can change. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';

export class HubError extends Error {
  override readonly name = 'HubError';
}

type Env = { readonly [name: string]: string | undefined };

/**
 * Makes each call of the client throw a HubError in place of an error of the way to AWS. Other errors stay as
 * they are.
 */
export function withHubErrors<C extends DynamoDBClient | SQSClient>(
  client: C,
  hub: string,
  env: Env = process.env,
): C {
  const stack = client.middlewareStack as {
    add(middleware: unknown, options: { readonly step: 'initialize'; readonly name: string }): void;
  };
  stack.add(
    (next: (args: unknown) => Promise<unknown>) => async (args: unknown) => {
      try {
        return await next(args);
      } catch (error) {
        const advice = adviceOn(error as Error, env);
        throw advice === undefined ? error : new HubError(`${hub}: ${advice}`, { cause: error });
      }
    },
    { step: 'initialize', name: 'hubErrors' },
  );
  return client;
}

/** Returns undefined if no setting of the user can help. */
export function adviceOn({ name, message }: Pick<Error, 'name' | 'message'>, env: Env): string | undefined {
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  const profile = `profile ${env['AWS_PROFILE'] ?? 'default'}`;
  const where = `region ${region ?? `of ${profile}`}`;
  if (/region is missing/i.test(message))
    return `no AWS region is set for ${profile}: set AWS_REGION, or region in ~/.aws/config`;
  if (name === 'CredentialsProviderError')
    return `no AWS credentials for ${profile} (${message}): sign in, or set AWS_PROFILE`;
  if (
    /^(ExpiredToken|UnrecognizedClient|InvalidSignature|InvalidClientTokenId|ExpiredTokenException)/.test(
      name,
    )
  )
    return `AWS refused the credentials of ${profile} in ${where} (${message}): sign in again, or set AWS_PROFILE`;
  if (name === 'ResourceNotFoundException')
    return `there is no such table in ${where}, ${profile}: check --table or TABLE_NAME, AWS_REGION and AWS_PROFILE`;
  if (/^AccessDenied/.test(name))
    return `${message} (${where}, ${profile}); docs/operate/security.md lists the rights`;
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT/.test(message))
    return `no answer (${message}): check the network and AWS_REGION`;
  return undefined;
}
