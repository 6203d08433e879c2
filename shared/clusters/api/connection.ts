import { readFile } from 'node:fs/promises';

/**
 * How to reach one cluster's API: what a kubeconfig comes down to. Never an exec plug-in or a file name from
 * outside.
 */
export interface Connection {
  /** https://host:port, or http:// for the embedded server of local runs. */
  readonly server: string;
  /** PEM. */
  readonly ca?: string;
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** PEM, both or neither. */
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly token?: string;
}

/** Gives the bearer token for the next request; `refresh` is true once after a 401. */
export type TokenSource = (refresh: boolean) => Promise<string | undefined>;

/**
 * A file with a connection or a token, which another process replaces. It is read again at most once in
 * `maxAgeMs`, and at once with `refresh`.
 */
export function cachedFile<T>(
  path: string,
  now: () => number,
  maxAgeMs: number,
  parse: (text: string) => T,
): (refresh: boolean) => Promise<T> {
  let cached: { readonly text: string; readonly value: T; readonly untilMs: number } | undefined;
  return async (refresh) => {
    if (cached && !refresh && now() < cached.untilMs) return cached.value;
    const text = await readFile(path, 'utf8');
    // The same text keeps its object, because another object would open new connections.
    cached = { text, value: cached?.text === text ? cached.value : parse(text), untilMs: now() + maxAgeMs };
    return cached.value;
  };
}
