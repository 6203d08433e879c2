/**
 * Reads the relay's connection to its API server, and its token, from files that the kubelet or a local run
 * replaces.
 */
import { type Connection, cachedFile, type TokenSource } from '#shared/clusters/api/connection.ts';
import type { ApiSettings } from './relay-settings.ts';

/** A projected token lives an hour and is replaced long before; a kubelet writes it within a minute. */
const maxAgeMs = 60_000;

export interface Credentials {
  readonly connection: () => Promise<Connection>;
  /** Undefined where the connection has credentials of its own. */
  readonly token?: TokenSource;
}

/** Files are read again at most once a minute, and at once when the API server has refused the token. */
export function fileCredentials(api: ApiSettings, now: () => number): Credentials {
  if ('connectionFile' in api) {
    const file = cachedFile(api.connectionFile, now, maxAgeMs, (text) => JSON.parse(text) as Connection);
    return { connection: () => file(false), token: async (refresh) => (await file(refresh)).token };
  }
  const { url, caFile, tokenFile } = api;
  const ca =
    caFile === undefined
      ? undefined
      : cachedFile(caFile, now, maxAgeMs, (text) => ({ server: url, ca: text }));
  const token =
    tokenFile === undefined ? undefined : cachedFile(tokenFile, now, maxAgeMs, (text) => text.trim());
  return { connection: () => (ca ? ca(false) : Promise.resolve({ server: url })), ...(token && { token }) };
}
