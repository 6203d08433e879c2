import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { Sha256 } from './sha256.ts';

const silent = (): void => {};

/**
 * HTTPS_PROXY and NO_PROXY apply to the SDK's own agents too. Node reads them itself for its global agent
 * alone.
 */
export const httpsAgent = { proxyEnv: process.env };

/**
 * Timeouts of every client of the SDK, whose default is to wait for ever. A connection that a NAT or firewall
 * dropped while the function was frozen stays silent, and Lambda would stop the function with its whole
 * batch. `requestTimeout` ends when the headers of an answer are there, `socketTimeout` covers a body that
 * stalls. A call that times out is retried on another connection, so every call must be safe to repeat.
 */
export const timeouts = (silentMs: number, connectionTimeout = 1_000) => ({
  connectionTimeout,
  requestTimeout: silentMs,
  socketTimeout: silentMs,
  throwOnRequestTimeout: true,
  httpsAgent,
});

/**
 * `maxAttempts` covers short faults of table or queue, of some two seconds, or eight under throttling. The
 * default of 3 attempts covers less than one second. A failed message returns after some seconds, and after
 * three minutes if its run was stopped.
 */
export const awsClientConfig = { maxAttempts: 6, requestHandler: timeouts(3_000) };

/** For credentials (STS, Secrets Manager), which are read while a call to a cluster waits. */
export const credentialsClientConfig = { maxAttempts: 3, requestHandler: timeouts(2_000) };

/** For commands, which a person waits for. */
export const commandClientConfig = { requestHandler: timeouts(10_000, 3_000) };

/**
 * For every client of SQS. The SDK would take the host of a queue's URL as the endpoint, against
 * AWS_USE_FIPS_ENDPOINT, AWS_USE_DUALSTACK_ENDPOINT and AWS_ENDPOINT_URL_SQS.
 */
export const sqsEndpoint = { useQueueUrlAsEndpoint: false };

/**
 * Configuration of the clients that are called for each event and each run. Most of a call's processor time
 * is the client's own. These settings save a fifth of it, and `forFrequentCalls` a tenth more (npm run bench --
 * sdk).
 *
 * - `cacheMiddleware`: The SDK builds the chain of handlers once for each kind of command. Middleware added
 *   afterwards has no effect, and a call with options builds its own chain.
 * - `logger` without `info`: The SDK would copy each input and output for `info`. Even its default logger,
 *   which writes nothing, gets these copies.
 *
 * Measured, and not worth it: undici's handler (no gain under churn), an HTTP handler or a reader of answers of
 * our own, no correction of clock skew, V8's compiler flags.
 */
export const frequentCallConfig = {
  ...awsClientConfig,
  cacheMiddleware: true,
  logger: { trace: silent, debug: silent, warn: silent, error: silent } as unknown as Pick<
    Console,
    'trace' | 'debug' | 'info' | 'warn' | 'error'
  >,
  sha256: Sha256,
};

/**
 * Prepares a client of `frequentCallConfig`. The SDK would build a signer, and the text of its user agent,
 * for each call.
 */
export function forFrequentCalls<C extends DynamoDBClient | SQSClient>(client: C): C {
  const { config } = client;
  const newSigner = config.signer;
  let signer: ReturnType<typeof newSigner> | undefined;
  // A signer requests the credentials for each signature.
  config.signer = (scheme) => {
    signer ??= newSigner(scheme);
    return signer;
  };
  const stack = client.middlewareStack as DynamoDBClient['middlewareStack'];
  stack.add(
    (next) => (args) => {
      (args.request as { readonly headers: { [name: string]: string } }).headers['user-agent'] =
        'fleet-endpoints';
      return next(args);
    },
    { name: 'getUserAgentMiddleware', override: true, step: 'build', priority: 'low' },
  );
  return client;
}
