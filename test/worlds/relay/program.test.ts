import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connectProxy } from '#test/support/network/connect-proxy.ts';
import { FaultyApi } from '#test/support/network/faulty-api.ts';
import { former } from '#test/unit/shared/clusters/api/key-pairs.ts';

let api: FaultyApi;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  api = await new FaultyApi().start();
  folder = await mkdtemp(join(tmpdir(), 'relay-'));
  await writeFile(join(folder, 'connection.json'), JSON.stringify({ server: api.url }));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await api.close();
  await rm(folder, { recursive: true });
});

type Line = { readonly [field: string]: unknown };

function startRelay(env: { readonly [name: string]: string } = {}) {
  const local = {
    CLUSTER_ID: 'test',
    EVENTS_QUEUE_URL: 'http://127.0.0.1:9/queue/events',
    KUBE_CONNECTION_FILE: join(folder, 'connection.json'),
    RELAY_PORT: '0',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
    NODE_NO_WARNINGS: '1',
  };
  const child = spawn(process.execPath, ['functions/relay/relay.main.ts'], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...local,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line));
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const line = (message: string) =>
    vi.waitFor(() => lines.find((l) => l['message'] === message) ?? expect.fail(`no line says ${message}`), {
      timeout: 120_000,
      interval: 10,
    });
  return { child, lines, code, line };
}

it('an environment that is not complete: one line that names everything, exit code 1', async () => {
  const { code, lines } = startRelay({
    CLUSTER_ID: '',
    EVENTS_QUEUE_URL: '',
    OUTPUTS: 'all',
    RELAY_PORT: 'x',
    RELAY_LEASE: 'relay',
  });
  expect(await code).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 'error', fatal: true });
  for (const name of ['CLUSTER_ID', 'EVENTS_QUEUE_URL', 'OUTPUTS', 'RELAY_PORT', 'RELAY_LEASE'])
    expect(lines[0]?.['reason']).toContain(name);
});

it('on a node whose kernel has no IPv6 it serves its probes by IPv4', async () => {
  const inPod = { KUBE_CONNECTION_FILE: '', KUBE_API_URL: api.url };
  const { line } = startRelay({ ...inPod, NODE_OPTIONS: '--import ./test/support/network/no-ipv6.ts' });
  const { address } = (await line('relay started')) as {
    readonly address: { readonly port: number; readonly family: string };
  };
  expect(address.family).toBe('IPv4');
  expect((await fetch(`http://127.0.0.1:${address.port}/healthz`)).status).toBe(200);
});

it('without its queue the relay is alive but not ready, reports this in metrics, and ends in time', async () => {
  const { child, code, line } = startRelay();
  const { address } = (await line('relay started')) as {
    readonly address: { readonly port: number; readonly address: string };
  };
  expect(address.address).toBe('127.0.0.1');
  await line('queue did not accept messages');
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${address.port}${path}`);
    return [answer.status, await answer.text()] as const;
  };
  expect(await get('/healthz')).toEqual([200, 'ok\n']);
  expect((await get('/readyz'))[0]).toBe(503);
  const [, text] = await get('/metrics');
  expect(text).toMatch(/^relay_queue_errors_total [1-9]/m);
  expect(text).toMatch(/^relay_events_total\{kind="EndpointSlice"\} 0$/m);
  const before = Date.now();
  child.kill('SIGTERM');
  expect(await code).toBe(0);
  // Then the kubelet kills it.
  expect(Date.now() - before).toBeLessThan(30_000);
});

it('it takes credentials from a helper beside it that serves them as an instance does', async () => {
  const asked: string[] = [];
  const helper = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const path = '/latest/meta-data/iam/security-credentials/';
    const credentials = {
      Code: 'Success',
      AccessKeyId: 'FROMHELPER',
      SecretAccessKey: 's',
      Token: 't',
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    };
    response.end(
      request.method === 'PUT' ? 'token' : request.url === path ? 'relay' : JSON.stringify(credentials),
    );
  });
  let authorization = '';
  const sqs = createServer((request, response) => {
    authorization ||= request.headers.authorization ?? '';
    response.writeHead(403).end('{}');
  });
  const urls: string[] = [];
  for (const server of [helper, sqs]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  try {
    const [helperUrl = '', sqsUrl = ''] = urls;
    const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', HOME: folder };
    startRelay({
      ...noKeys,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: helperUrl,
      AWS_ENDPOINT_URL_SQS: sqsUrl,
      EVENTS_QUEUE_URL: `${sqsUrl}/queue/events`,
    });
    await vi.waitFor(() => expect(authorization).toContain('Credential=FROMHELPER/'), {
      timeout: 120_000,
      interval: 20,
    });
    expect(asked[0]).toBe('PUT /latest/api/token');
  } finally {
    for (const server of [helper, sqs]) {
      server.closeAllConnections();
      server.close();
    }
  }
});

it('with HTTPS_PROXY it reaches STS and its queue through the proxy', async () => {
  const file = (name: string): string => join(folder, name);
  await writeFile(file('ca.crt'), former.clientCertificate);
  await writeFile(file('token'), 'of the kubelet');
  let authorization = '';
  const aws = https.createServer(
    { cert: former.clientCertificate, key: former.clientKey },
    async (request, response) => {
      const body = (await request.toArray()).join('');
      if (!body.includes('AssumeRoleWithWebIdentity')) {
        authorization ||= request.headers.authorization ?? '';
        response.writeHead(403).end('{}');
        return;
      }
      const credentials = `<AccessKeyId>OFTHEROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>`;
      const result = `<AssumeRoleWithWebIdentityResult><Credentials>${credentials}</Credentials></AssumeRoleWithWebIdentityResult>`;
      response.end(
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleWithWebIdentityResponse>`,
      );
    },
  );
  await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve));
  // The addresses of STS and SQS themselves have no server.
  const proxy = await connectProxy(() => ({ host: '127.0.0.1', port: (aws.address() as AddressInfo).port }));
  try {
    startRelay({
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: file('ca.crt'),
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/relay',
      AWS_WEB_IDENTITY_TOKEN_FILE: file('token'),
      AWS_ENDPOINT_URL_STS: 'https://127.0.0.1:1',
      AWS_ENDPOINT_URL_SQS: 'https://127.0.0.1:2',
      EVENTS_QUEUE_URL: 'https://127.0.0.1:2/queue/events',
    });
    await vi.waitFor(() => expect(authorization).toContain('Credential=OFTHEROLE/'), {
      timeout: 120_000,
      interval: 20,
    });
    expect(new Set(proxy.asked)).toEqual(new Set(['127.0.0.1:1', '127.0.0.1:2']));
  } finally {
    await proxy.close();
    aws.closeAllConnections();
    aws.close();
  }
});

it('through the real SQS client: every kind is listed and the relay is ready', async () => {
  const bodies: string[] = [];
  const sqs = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { Entries } = JSON.parse(Buffer.concat(parts).toString()) as {
        readonly Entries: readonly { readonly Id: string; readonly MessageBody: string }[];
      };
      bodies.push(...Entries.map((e) => e.MessageBody));
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      response.end(
        JSON.stringify({
          Successful: Entries.map(({ Id, MessageBody }) => ({
            Id,
            MessageId: Id,
            MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
          })),
          Failed: [],
        }),
      );
    });
  });
  await new Promise<void>((resolve) => sqs.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(sqs.address() as AddressInfo).port}`;
    const { child, code, line } = startRelay({
      AWS_ENDPOINT_URL_SQS: url,
      EVENTS_QUEUE_URL: `${url}/queue/events`,
    });
    const { address } = (await line('relay started')) as { readonly address: { readonly port: number } };
    await vi.waitFor(
      async () => expect((await fetch(`http://127.0.0.1:${address.port}/readyz`)).status).toBe(200),
      {
        timeout: 120_000,
        interval: 20,
      },
    );
    expect(new Set(bodies.map((body) => (JSON.parse(body) as { readonly kind?: string }).kind))).toEqual(
      new Set([undefined, 'Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice']),
    );
    child.kill('SIGTERM');
    expect(await code).toBe(0);
  } finally {
    sqs.closeAllConnections();
    sqs.close();
  }
});
