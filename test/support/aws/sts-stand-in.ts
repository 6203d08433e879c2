import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { type ConnectProxy, connectProxy } from '#test/support/network/connect-proxy.ts';
import type { LocalCloud } from './local-cloud.ts';
import { stsCertificate, stsKey } from './sts-certificate.ts';

/**
 * Forwards requests to the local cloud's STS, which checks signature, age, access key and rights. `change`
 * rewrites the body of a success.
 */
export async function stsListener(
  cloud: LocalCloud,
  change: (answer: string, request: string) => string,
): Promise<RequestListener> {
  const { hostname: host, port } = new URL(cloud.url);
  const ca = await readFile(cloud.reach['NODE_EXTRA_CA_CERTS'] ?? '', 'utf8');
  // The Host header is signed, so it stays as it is, and is not the name in the local cloud's certificate.
  const server = { host, port, ca, servername: '', checkServerIdentity: () => undefined };
  return async (request, response) => {
    const { method, headers, url: path } = request;
    const body = (await request.toArray()).join('');
    const forwarded = https.request({ ...server, method, path, headers }, async (answer) => {
      const text = (await answer.toArray()).join('');
      response.writeHead(answer.statusCode ?? 502);
      response.end(answer.statusCode === 200 ? change(text, body) : text);
    });
    forwarded.on('error', () => response.writeHead(502).end());
    forwarded.end(body);
  };
}

/**
 * sts.us-east-1.amazonaws.com for a program that accepts no other host: a proxy leads to a certificate of
 * tests, and from there to the local cloud. Its answers are JSON, as AWS's are.
 */
export interface StsStandIn {
  readonly proxy: ConnectProxy;
  close(): Promise<void>;
}

export async function startStsStandIn(cloud: LocalCloud): Promise<StsStandIn> {
  const server = https.createServer(
    { cert: stsCertificate, key: stsKey },
    await stsListener(cloud, identityAsJson),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = await connectProxy((authority) =>
    authority === 'sts.us-east-1.amazonaws.com:443' ? { host: '127.0.0.1', port } : 403,
  );
  return {
    proxy,
    async close() {
      await proxy.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function identityAsJson(xml: string): string {
  const field = (name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
  const GetCallerIdentityResult = { Account: field('Account'), Arn: field('Arn'), UserId: field('UserId') };
  return JSON.stringify({
    GetCallerIdentityResponse: {
      GetCallerIdentityResult,
      ResponseMetadata: { RequestId: field('RequestId') },
    },
  });
}
