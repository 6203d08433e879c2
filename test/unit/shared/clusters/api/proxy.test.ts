/**
 * HTTPS_PROXY and NO_PROXY, as a function in a VPC has them: real connections through a proxy of this test.
 */
import https from 'node:https';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterEach, expect, it, vi } from 'vitest';
import { awsClientConfig, credentialsClientConfig } from '#shared/aws-client-config.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { connectProxy } from '#test/support/network/connect-proxy.ts';
import { listen } from '#test/support/network/listen.ts';
import { former, renewed } from './key-pairs.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ends.splice(0).reverse()) await end();
});

async function proxy(...route: Parameters<typeof connectProxy>) {
  const made = await connectProxy(...route);
  ends.push(() => made.close());
  return made;
}

/** An API server that the renewed authority signed. */
async function apiServer(): Promise<number> {
  const server = https.createServer(
    { cert: renewed.clientCertificate, key: renewed.clientKey },
    (_, response) => response.end('{}'),
  );
  const { port, close } = await listen(server);
  ends.push(close);
  return port;
}

function through(proxyEnv: NodeJS.ProcessEnv, server: string, ca = renewed.clientCertificate) {
  const made = httpTransport({ server, ca }, { proxyEnv, timeoutMs: 5_000 });
  ends.push(() => made.close());
  return made;
}

it('calls of a cluster’s API go through the proxy, on one connection', async () => {
  const port = await apiServer();
  // The server is there under the proxy's address for it alone.
  const { url, asked } = await proxy(() => ({ host: '127.0.0.1', port }));
  const { request } = through({ HTTPS_PROXY: url }, 'https://127.0.0.1:1');
  expect((await request('GET', '/version')).status).toBe(200);
  expect((await request('GET', '/version')).status).toBe(200);
  expect(asked).toEqual(['127.0.0.1:1']);
});

it.each(['127.0.0.1', '127.0.0.1:PORT', '127.0.0.0-127.0.0.9', '*'])(
  'an API server in NO_PROXY (%s) is called directly',
  async (entry) => {
    const port = await apiServer();
    const { url, asked } = await proxy();
    const { request } = through(
      { HTTPS_PROXY: url, NO_PROXY: `.example.com,${entry.replace('PORT', String(port))}` },
      `https://127.0.0.1:${port}`,
    );
    expect((await request('GET', '/version')).status).toBe(200);
    expect(asked).toEqual([]);
  },
);

it('an API server of another authority is refused behind a proxy too', async () => {
  const port = await apiServer();
  const { url } = await proxy();
  const { request } = through({ HTTPS_PROXY: url }, `https://127.0.0.1:${port}`, former.clientCertificate);
  await expect(request('GET', '/version')).rejects.toThrow(/self-signed certificate/);
});

it.each([403, 407, 502])(
  'a refusal of the proxy (%i) is a failed connection, with the status in its message',
  async (status) => {
    const { url } = await proxy(() => status);
    const { request } = through({ HTTPS_PROXY: url }, 'https://api.example.com:6443');
    await expect(request('GET', '/version')).rejects.toMatchObject({
      status: 0,
      message: expect.stringContaining(String(status)),
    });
  },
);

it('a proxy without an answer is a time-out', async () => {
  const { url } = await proxy(() => 'silence');
  const { request } = through({ HTTPS_PROXY: url }, 'https://api.example.com:6443');
  await expect(request('GET', '/version', { timeoutMs: 200 })).rejects.toMatchObject({
    status: 0,
    reason: 'TimedOut',
  });
});

it('a call of AWS through a proxy without an answer is a time-out', async () => {
  const { url } = await proxy(() => 'silence');
  vi.stubEnv('HTTPS_PROXY', url);
  const requestHandler = { ...credentialsClientConfig.requestHandler, requestTimeout: 50 };
  const client = new STSClient({
    maxAttempts: 1,
    requestHandler,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  ends.push(() => client.destroy());
  await expect(client.send(new GetCallerIdentityCommand({}))).rejects.toThrow(/50 ms/);
});

it.each(Object.entries({ awsClientConfig, credentialsClientConfig }))(
  '%s: AWS is called through the proxy',
  async (_, config) => {
    const { url, asked } = await proxy(() => 403);
    vi.stubEnv('HTTPS_PROXY', url);
    const client = new STSClient({
      ...config,
      maxAttempts: 1,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
    ends.push(() => client.destroy());
    await expect(client.send(new GetCallerIdentityCommand({}))).rejects.toThrow(/403/);
    expect(asked).toEqual(['sts.eu-west-1.amazonaws.com:443']);
  },
);
