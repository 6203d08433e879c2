import { createSign, generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { parse, stringify } from 'yaml';
import { former } from '#test/unit/shared/clusters/api/key-pairs.ts';

/** An issuer of tokens on 127.0.0.1, as AWS has one for each account with outbound web identity. */
export interface TokenIssuer {
  readonly url: string;
  /** Returns a token of fifteen minutes. */
  token(claims: { readonly sub: string; readonly aud: string }): string;
  close(): void;
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = https.createServer(
    { cert: former.clientCertificate, key: former.clientKey },
    (request, response) => {
      const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }];
      const discovery = {
        issuer: url,
        jwks_uri: `${url}/jwks`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
      };
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(request.url === '/jwks' ? { keys } : discovery));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    url,
    token(claims) {
      const seconds = Math.floor(Date.now() / 1000);
      const text = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: url, iat: seconds, exp: seconds + 900, ...claims })}`;
      return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Returns the AuthenticationConfiguration of docs/operate/getting-started.md with these names, and with the authority
 * of an issuer that no public authority signs.
 */
export async function authenticationConfiguration(
  names: {
    readonly issuer: TokenIssuer;
    readonly worker: string;
    readonly sweep: string;
    readonly audience: string;
  },
  apiVersion?: string,
): Promise<string> {
  const page = await readFile('docs/operate/getting-started.md', 'utf8');
  const [, yaml = ''] = /```yaml\n(apiVersion: apiserver\.config\.k8s\.io[\s\S]*?)```/.exec(page) ?? [];
  const config = parse(
    yaml
      .replace('WORKER_ROLE_ARN', names.worker)
      .replace('SWEEP_ROLE_ARN', names.sweep)
      .replace('[A]', `[${names.audience}]`),
  );
  Object.assign(config.jwt[0].issuer, {
    url: names.issuer.url,
    certificateAuthority: former.clientCertificate,
  });
  return stringify({ ...config, ...(apiVersion && { apiVersion }) });
}
