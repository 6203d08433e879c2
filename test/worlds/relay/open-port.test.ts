/**
 * Whatever connects to the relay's port costs it little memory, and keeps neither the kubelet nor Prometheus
 * from an answer.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FaultyApi } from '#test/support/network/faulty-api.ts';

let api: FaultyApi;
let folder: string;
let relay: ChildProcess;
let port: number;
const sockets = new Set<Socket>();

beforeEach(async () => {
  api = await new FaultyApi().start();
  folder = await mkdtemp(join(tmpdir(), 'relay-'));
  await writeFile(join(folder, 'connection.json'), JSON.stringify({ server: api.url }));
  relay = spawn(process.execPath, ['functions/relay/relay.main.ts'], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      CLUSTER_ID: 'test',
      EVENTS_QUEUE_URL: 'http://127.0.0.1:9/queue/events',
      KUBE_CONNECTION_FILE: join(folder, 'connection.json'),
      RELAY_PORT: '0',
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
      NODE_NO_WARNINGS: '1',
      // As in the relay's pod (infra/relay/manifest.ts).
      NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=128',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: relay.stdout! })) {
    const { message, address } = JSON.parse(line) as {
      readonly message: string;
      readonly address?: { readonly port: number };
    };
    if (message !== 'relay started') continue;
    port = address?.port ?? 0;
    break;
  }
});

afterEach(async () => {
  relay.kill('SIGKILL');
  for (const socket of sockets) socket.destroy();
  await api.close();
  await rm(folder, { recursive: true });
});

/** Begins a request and never ends it. Resolves when the system has taken its bytes. */
const beginRequest = (bytes: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => resolve()));
    sockets.add(socket);
    socket.resume().on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      resolve();
    });
  });

/** A connection for each request, as the kubelet has it. */
async function status(
  path: string,
  headers: { readonly [name: string]: string } = {},
): Promise<number | undefined> {
  const [answer] = (await once(
    get({ host: '127.0.0.1', port, path, headers, agent: false, timeout: 5_000 }),
    'response',
  )) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

const peakMiB = (): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${relay.pid}/status`, 'utf8'))?.[1]) / 1024;
const inTurns = async (count: number, atOnce: number, run: () => Promise<void>): Promise<void> => {
  let left = count;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await run();
    }),
  );
};

it.runIf(platform() === 'linux')(
  '20,000 requests that never end cost the relay less than 32 MB and no probe, and none stays open',
  { timeout: 120_000 },
  async () => {
    const unfinished = `GET /healthz HTTP/1.1\r\nhost: relay\r\nx: ${'x'.repeat(3_000)}`;
    expect(await status('/healthz')).toBe(200);
    const before = peakMiB();
    for (let round = 0; round < 10; round++) {
      const [during] = await Promise.all([
        status('/healthz'),
        inTurns(2_000, 100, () => beginRequest(unfinished)),
      ]);
      expect([during, await status('/readyz')]).toEqual([200, 503]);
    }
    expect(peakMiB() - before).toBeLessThan(32);
    await vi.waitFor(() => expect(sockets.size).toBe(0), { timeout: 60_000, interval: 50 });
  },
);

it('a request with more headers than a probe or Prometheus sends is refused before they are read', async () => {
  expect(await status('/metrics', { x: 'x'.repeat(15_000) })).toBe(431);
});
