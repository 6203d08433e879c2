const silent = (): void => {};

/**
 * Configuration of the SDK's clients that are called for each event and each run. Most of a call's processor time is the client's own; this takes
 * a sixth of it away (npm run bench -- sdk):
 *
 * - `cacheMiddleware`: the chain of handlers is put together once a kind of command. Nothing may be added to it later, nor options be given with a call.
 * - `logger` without `info`: the SDK makes a copy of each input and output without its secrets for `info`, even for that of its own logger, which says nothing.
 *
 * And `maxAttempts`: a moment's trouble of table or queue is waited out, for some two seconds, or eight if they throttle (3 attempts are usual, and
 * give up within one). A message that fails comes back after some seconds, one whose run was stopped after three minutes.
 */
export const hotClient = {
  cacheMiddleware: true,
  maxAttempts: 6,
  logger: { trace: silent, debug: silent, warn: silent, error: silent } as unknown as Pick<Console, 'trace' | 'debug' | 'info' | 'warn' | 'error'>,
};
