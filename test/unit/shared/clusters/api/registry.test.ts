import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { clusterRegistry } from '#shared/clusters/api/registry.ts';
import { decodeCluster } from '#shared/clusters/record.ts';
import { metaKey } from '#shared/store/keys.ts';
import { listen } from '#test/support/network/listen.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it('runs that begin together in a cold worker share one client, and so its eight connections and the spare one', async () => {
  let sockets = 0;
  const server = http.createServer(
    (_, response) => void setImmediate(() => response.end('{"metadata":{"uid":"u"}}')),
  );
  server.on('connection', () => sockets++);
  const { port, close } = await listen(server);
  const folder = await mkdtemp(join(tmpdir(), 'registry-'));
  ends.push(() => rm(folder, { recursive: true }), close);
  const connectionsFile = join(folder, 'connections.json');
  writeFileSync(connectionsFile, JSON.stringify({ c: { server: `http://127.0.0.1:${port}` } }));
  const never = async (): Promise<never> => Promise.reject(new Error('not needed'));
  const registry = clusterRegistry({
    connectionsFile,
    credentials: never,
    region: 'eu-west-1',
    access: { credentials: never, roleCredentials: never },
    now: () => 0,
    onRequest() {},
  });
  const cluster = decodeCluster('c', { ...metaKey('c'), uid: 'u' });
  const run = async (): Promise<string> => (await registry(cluster, () => 5_000)).identity();
  expect(await Promise.all(Array.from({ length: 20 }, run))).toEqual(Array.from({ length: 20 }, () => 'u'));
  expect(sockets).toBeLessThanOrEqual(9);
});
