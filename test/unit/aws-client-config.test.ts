/** A connection that has gone silent while a function was frozen: real clients, and a server of this test. */
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, it } from 'vitest';
import { awsClientConfig, credentialsClientConfig, frequentCallConfig } from '#shared/aws-client-config.ts';
import { defaultLimits } from '#shared/contract/limits.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

it.each(Object.entries({ awsClientConfig, frequentCallConfig, credentialsClientConfig }))(
  '%s: a call without an answer is made again on another connection',
  async (_, config) => {
    const sockets = new Set<unknown>();
    const server = http.createServer((request, response) => {
      sockets.add(request.socket);
      if (sockets.size > 1) response.end('{"Item":{"v":{"S":"here"}}}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // The same, but quicker.
    const requestHandler = { ...config.requestHandler, requestTimeout: config.requestHandler.requestTimeout / 50 };
    const client = new DynamoDBClient({
      ...config,
      requestHandler,
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
  },
);

it('all tries of a call together end before the function is stopped, and those for credentials before a call to a cluster would', () => {
  const longest = ({ maxAttempts, requestHandler }: typeof awsClientConfig): number => maxAttempts * requestHandler.requestTimeout;
  expect(longest(awsClientConfig)).toBeLessThan(defaultLimits.runs.syncMs);
  expect(longest(credentialsClientConfig)).toBeLessThan(defaultLimits.sync.callMs);
});

it('no function has a client of the SDK without time-outs', () => {
  const clients = globSync('functions/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/new \w+Client\(([^)]*)\)/g)].map((m) => `${file}: ${m[1]}`),
  );
  expect(clients.length).toBeGreaterThan(8);
  expect(clients.filter((c) => !/: (frequentCallConfig|awsClientConfig|credentialsClientConfig)$|requestTimeout/.test(c))).toEqual([]);
});
