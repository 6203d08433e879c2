const silent = (): void => {};

/**
 * Time-outs of every client of the SDK, whose default is to wait for ever: a connection that a NAT or firewall has dropped while the function was
 * frozen is silent, and Lambda would stop the function with its whole batch. A call that times out is retried on another connection: every call here
 * may be made twice.
 *
 * `maxAttempts` covers short faults of table or queue, of some two seconds, or eight under throttling (the default of 3 attempts covers less than one). A
 * message that fails comes back after some seconds, one whose run was stopped after three minutes.
 */
export const awsClientConfig = {
  maxAttempts: 6,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};

/** For credentials (STS, Secrets Manager), which are read while a call to a cluster waits. */
export const credentialsClientConfig = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
};

/**
 * Configuration of the clients that are called for each event and each run. Most of a call's processor time is the client's own; this takes
 * a sixth of it away (npm run bench -- sdk):
 *
 * - `cacheMiddleware`: the chain of handlers is put together once a kind of command. Nothing may be added to it later, nor options be given with a call.
 * - `logger` without `info`: the SDK makes a copy of each input and output without its secrets for `info`, even of its own logger, which writes nothing.
 */
export const frequentCallConfig = {
  ...awsClientConfig,
  cacheMiddleware: true,
  logger: { trace: silent, debug: silent, warn: silent, error: silent } as unknown as Pick<Console, 'trace' | 'debug' | 'info' | 'warn' | 'error'>,
};
