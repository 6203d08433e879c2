const silent = (): void => {};

/** HTTPS_PROXY and NO_PROXY apply to the SDK's own agents too. Node reads them itself for its global agent alone. */
export const httpsAgent = { proxyEnv: process.env };

/**
 * Timeouts of every client of the SDK, whose default is to wait for ever. A connection that a NAT or firewall dropped while the function was frozen stays
 * silent, and Lambda would stop the function with its whole batch. A call that times out is retried on another connection, so every call must be safe to
 * repeat.
 *
 * `maxAttempts` covers short faults of table or queue, of some two seconds, or eight under throttling. The default of 3 attempts covers less than one second.
 * A failed message returns after some seconds, and after three minutes if its run was stopped.
 */
export const awsClientConfig = {
  maxAttempts: 6,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true, httpsAgent },
};

/** For credentials (STS, Secrets Manager), which are read while a call to a cluster waits. */
export const credentialsClientConfig = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true, httpsAgent },
};

/**
 * Configuration of the clients that are called for each event and each run. Most of a call's processor time is the client's own. These settings save a sixth
 * of it (npm run bench -- sdk).
 *
 * - `cacheMiddleware`: The chain of handlers is built once for each kind of command. It cannot be extended later, and calls cannot have options.
 * - `logger` without `info`: The SDK copies each input and output without its secrets for `info`, even for its own logger, which writes nothing.
 */
export const frequentCallConfig = {
  ...awsClientConfig,
  cacheMiddleware: true,
  logger: { trace: silent, debug: silent, warn: silent, error: silent } as unknown as Pick<Console, 'trace' | 'debug' | 'info' | 'warn' | 'error'>,
};
