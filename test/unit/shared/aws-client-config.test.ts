/**
 * A connection that goes silent, before an answer or in the middle of one: real clients, and a server of this
 * test.
 */
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, expect, it, vi } from 'vitest';
import {
  awsClientConfig,
  commandClientConfig,
  credentialsClientConfig,
  forFrequentCalls,
  frequentCallConfig,
  sqsEndpoint,
  timeouts,
} from '#shared/aws-client-config.ts';
import { defaultLimits } from '#shared/contract/limits.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
  vi.unstubAllEnvs();
});

const configs = { awsClientConfig, frequentCallConfig, credentialsClientConfig, commandClientConfig };
const firstAnswers: Record<string, (response: http.ServerResponse) => void> = {
  'gets no answer': () => {},
  'gets half an answer': (response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': 27 });
    response.write('{"Item":{"v":');
  },
};

it.each(
  Object.entries(configs).flatMap(([name, config]) =>
    Object.entries(firstAnswers).map(([what, answer]) => [name, what, config, answer] as const),
  ),
)('%s: a call that %s is made again on another connection', async (_name, _what, config, answer) => {
  const sockets = new Set<unknown>();
  const server = http.createServer((request, response) => {
    sockets.add(request.socket);
    if (sockets.size > 1) response.end('{"Item":{"v":{"S":"here"}}}');
    else answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new DynamoDBClient({
    ...config,
    // The same, but quicker.
    requestHandler: { ...config.requestHandler, ...timeouts(config.requestHandler.requestTimeout / 50) },
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  ends.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { Item } = await client.send(new GetItemCommand({ TableName: 't', Key: { pk: { S: 'k' } } }));
  expect(Item).toEqual({ v: { S: 'here' } });
  expect(sockets.size).toBe(2);
});

it('a connection that is idle for longer than an answer may take is used again', async () => {
  const sockets = new Set<unknown>();
  const server = http.createServer((request, response) => {
    sockets.add(request.socket);
    response.end('{"Item":{"v":{"S":"here"}}}');
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new DynamoDBClient({
    requestHandler: timeouts(100),
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  ends.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const get = () => client.send(new GetItemCommand({ TableName: 't', Key: { pk: { S: 'k' } } }));
  await get();
  await sleep(300);
  await get();
  expect(sockets.size).toBe(1);
});

it('a client for frequent calls signs as the client of the SDK does, each time with the present credentials', async () => {
  const received: { readonly headers: http.IncomingHttpHeaders; readonly body: string }[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.write('{"Item":{"v":');
      response.end('{"S":"größer"}}}');
    });
  });
  ends.push(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const common = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
  };
  const keyOf = (id: string) => ({
    accessKeyId: id,
    secretAccessKey: `secret of ${id}`,
    sessionToken: `token of ${id}`,
    expiration: new Date(0),
  });
  let key = keyOf('first');
  const credentials = async () => key;
  const client = forFrequentCalls(new DynamoDBClient({ ...frequentCallConfig, ...common, credentials }));
  ends.push(() => client.destroy());
  for (const id of ['first', 'second']) {
    key = keyOf(id);
    const { Item } = await client.send(new GetItemCommand({ TableName: 't', Key: { pk: { S: id } } }));
    expect(Item).toEqual({ v: { S: 'größer' } });
    const [{ headers, body }] = received.splice(0) as [(typeof received)[number]];
    const own = new DynamoDBClient({ ...common, credentials: key });
    ends.push(() => own.destroy());
    const { authorization = '' } = headers;
    const [, names = ''] = /SignedHeaders=([^,]*)/.exec(authorization) ?? [];
    const signed = Object.fromEntries(names.split(';').map((name) => [name, headers[name] as string]));
    const request = {
      method: 'POST',
      protocol: 'http:',
      hostname: '127.0.0.1',
      path: '/',
      query: {},
      headers: signed,
      body,
    };
    const again = await (await own.config.signer()).sign(request as never, {
      signingDate: dateOf(signed['x-amz-date']),
    });
    expect((again as unknown as typeof request).headers).toEqual({ ...signed, authorization });
    expect(headers).toMatchObject({
      'user-agent': 'fleet-endpoints',
      'x-amz-security-token': key.sessionToken,
    });
  }
});

/** As "file: name arguments". */
const clientsIn = (files: string): readonly string[] =>
  globSync(files).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/new (\w+Client)\(([^)]*)\)/g)].map(
      (m) => `${file}: ${m[1]} ${m[2]}`,
    ),
  );

const dateOf = (basic = ''): Date => new Date(basic.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));

it('all tries of a call together end before the function is stopped, and those for credentials before a call to a cluster would', () => {
  const longest = ({ maxAttempts, requestHandler }: typeof awsClientConfig): number =>
    maxAttempts * requestHandler.requestTimeout;
  expect(longest(awsClientConfig)).toBeLessThan(defaultLimits.runs.workerMs);
  expect(longest(credentialsClientConfig)).toBeLessThan(defaultLimits.sync.callMs);
});

it('no function and no command has a client of the SDK without time-outs, local addresses excepted', () => {
  const clients = clientsIn('{functions,infra/{cli,command,console}}/**/*.ts');
  expect(clients.length).toBeGreaterThan(14);
  const allowed =
    /\b(frequentCallConfig|awsClientConfig|credentialsClientConfig|commandClientConfig|timeouts)\b|endpoint: local\./;
  expect(clients.filter((c) => !allowed.test(c))).toEqual([]);
});

it.each([
  ['AWS_USE_FIPS_ENDPOINT', 'true', 'sqs-fips.us-east-1.amazonaws.com'],
  ['AWS_USE_DUALSTACK_ENDPOINT', 'true', 'sqs.us-east-1.api.aws'],
  [
    'AWS_ENDPOINT_URL_SQS',
    'https://vpce-1.sqs.us-east-1.vpce.amazonaws.com',
    'vpce-1.sqs.us-east-1.vpce.amazonaws.com',
  ],
  ['AWS_REGION', 'us-east-1', 'sqs.us-east-1.amazonaws.com'],
])('a client of SQS follows %s, whatever host its queue’s URL has', async (name, value, hostname) => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv(name, value);
  const asked: string[] = [];
  const requestHandler = {
    handle: (request: { readonly hostname: string }): Promise<never> => {
      asked.push(request.hostname);
      return Promise.reject(new Error('enough'));
    },
  };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = forFrequentCalls(
    new SQSClient({ ...frequentCallConfig, ...sqsEndpoint, requestHandler, credentials, maxAttempts: 1 }),
  );
  const QueueUrl = 'https://sqs.us-east-1.amazonaws.com/111122223333/events';
  await expect(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'm' }))).rejects.toThrow('enough');
  expect(asked).toEqual([hostname]);
});

it('every client of SQS takes its endpoint from its configuration, and not from a queue’s URL', () => {
  const clients = clientsIn('{functions,infra}/**/*.ts').filter((c) => c.includes('SQSClient'));
  expect(clients.length).toBeGreaterThan(4);
  expect(clients.filter((c) => !/\bsqsEndpoint\b|\bendpoint:/.test(c))).toEqual([]);
});
