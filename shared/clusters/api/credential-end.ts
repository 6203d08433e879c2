import { X509Certificate } from 'node:crypto';
import type { Connection } from './connection.ts';

/**
 * Returns when the API server stops accepting the credentials, ms since the epoch: the `exp` of a token, the
 * end of a certificate. Returns undefined if they show no end: the token of a Secret of type
 * kubernetes.io/service-account-token lacks `exp`.
 */
export function credentialEndMs({ token, clientCertificate }: Partial<Connection>): number | undefined {
  if (token !== undefined) return tokenEndMs(token);
  return clientCertificate === undefined
    ? undefined
    : new X509Certificate(clientCertificate).validToDate.getTime();
}

function tokenEndMs(token: string): number | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      readonly exp?: unknown;
    };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    // A token of another form.
    return undefined;
  }
}
