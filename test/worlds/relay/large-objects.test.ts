/**
 * The real program under the limits of its own Deployment, in a cluster whose objects are as large as an API
 * server takes them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { platform } from 'node:os';
import { createInterface } from 'node:readline';
import { afterEach, expect, it, vi } from 'vitest';
import { relayManifest } from '#infra/relay/manifest.ts';
import { annotationTopologyMode } from '#shared/kube/names.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';

const install = {
  cluster: 'c',
  namespace: 'n',
  eventsQueueUrl: 'u',
  region: 'r',
  outputs: 'full',
  replicas: 2,
  resyncSeconds: '1800',
  program: { image: 'i' },
} as const;
// biome-ignore lint/suspicious/noExplicitAny: a Deployment, read by path
const deployment = relayManifest(install).find((m) => m.kind === 'Deployment') as any;
const [container] = deployment.spec.template.spec.containers;
const nodeOptions: string = container.env.find((e: { name: string }) => e.name === 'NODE_OPTIONS').value;
/** With a fifth to spare. */
const maxMiB = 0.8 * Number.parseInt(container.resources.limits.memory, 10);

const servers: Server[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Text that goes out as fast as it is read, for as long as it is read. */
function writer(response: ServerResponse): (text: string) => Promise<boolean> {
  const closed = once(response, 'close');
  return async (text) => {
    if (!response.write(text)) await Promise.race([once(response, 'drain'), closed]);
    return !response.destroyed;
  };
}

interface LargeCluster {
  readonly plural: 'pods' | 'services';
  readonly objects: number;
  readonly object: (i: number, version: number) => object;
  /** How many events a watch of the kind brings, one for each object. */
  readonly events?: number;
}

const nameOf = (i: number): string => `o-${String(i).padStart(5, '0')}`;
const metadataOf = (i: number, version: number) => ({
  namespace: 'tenant',
  name: nameOf(i),
  uid: `u${i}`,
  resourceVersion: String(version),
});

/** Its objects are made while they are sent, so that this process has no need for their memory. */
async function serveCluster({ plural, objects, object, events = 0 }: LargeCluster) {
  const url = await serve(async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://api');
    const isOfKind = pathname.endsWith(plural);
    if (pathname.endsWith('/kube-system')) response.end(JSON.stringify({ metadata: { uid: 'U' } }));
    else if (query.get('watch')) {
      response.flushHeaders();
      if (isOfKind) await writeEvents(response, query);
    } else if (isOfKind && events === 0) await writeList(response, query);
    else response.end('{"metadata":{"resourceVersion":"1000"},"items":[]}');
  });
  async function writeEvents(response: ServerResponse, query: URLSearchParams): Promise<void> {
    const write = writer(response);
    for (let i = Number(query.get('resourceVersion')) - 1000; i < events; i++)
      if (!(await write(`${JSON.stringify({ type: 'ADDED', object: object(i, 1001 + i) })}\n`))) return;
  }
  async function writeList(response: ServerResponse, query: URLSearchParams): Promise<void> {
    const write = writer(response);
    const from = Number(query.get('continue') ?? 0);
    const to = Math.min(objects, from + Number(query.get('limit')));
    await write(
      `{"metadata":{"resourceVersion":"1000"${to < objects ? `,"continue":"${to}"` : ''}},"items":[`,
    );
    for (let i = from; i < to; i++)
      if (!(await write((i > from ? ',' : '') + JSON.stringify(object(i, 10))))) return;
    response.end(']}');
  }
  return { url };
}

async function startRelay(api: string) {
  const messages: EventsMessage[] = [];
  const queue = await serve(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { Entries } = JSON.parse(Buffer.concat(parts).toString()) as {
      readonly Entries: readonly { readonly Id: string; readonly MessageBody: string }[];
    };
    messages.push(...Entries.map((e) => parseEventsMessage(e.MessageBody)));
    const accepted = Entries.map(({ Id, MessageBody }) => ({
      Id,
      MessageId: Id,
      MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
    }));
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    response.end(JSON.stringify({ Successful: accepted, Failed: [] }));
  });
  const env = {
    PATH: process.env['PATH'],
    CLUSTER_ID: 'test',
    EVENTS_QUEUE_URL: `${queue}/0/events`,
    AWS_ENDPOINT_URL_SQS: queue,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    KUBE_API_URL: api,
    RELAY_PORT: '0',
    RELAY_HOST: '127.0.0.1',
    NODE_NO_WARNINGS: '1',
    NODE_OPTIONS: nodeOptions,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  };
  const child = spawn(process.execPath, ['functions/relay/relay.main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => said.push(line));
  let ended: string | undefined;
  child.once('close', (code, signal) => {
    ended = `the relay ended (${code ?? signal}): ${said.filter((line) => /FATAL|fatal/.test(line)).join('\n') || said.at(-1)}`;
  });
  return {
    messages,
    async until(holds: () => boolean): Promise<void> {
      await vi.waitFor(() => expect(ended ?? holds()).toBe(true), { timeout: 60_000, interval: 50 });
    },
    /** Resident memory as the kernel counts it, at most so far. */
    peakMiB: (): number =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
  };
}

/** A pending pod with an annotation that is not read. */
const pod =
  (bytes: number, filling = 'x') =>
  (i: number, version: number): object => ({
    metadata: {
      ...metadataOf(i, version),
      labels: { version: `v${version}` },
      annotations: { blob: filling.repeat(bytes / Buffer.byteLength(filling)) },
    },
    spec: { containers: [{ name: 'c' }] },
    status: { phase: 'Pending' },
  });

/** A Service with an annotation that is sent, and does not compress. */
const service =
  (bytes: number) =>
  (i: number, version: number): object => ({
    metadata: {
      ...metadataOf(i, version),
      annotations: { [annotationTopologyMode]: randomBytes((bytes * 3) / 4).toString('base64') },
    },
    spec: {},
  });

const KB = 1024;

it.runIf(platform() === 'linux').each<readonly [string, LargeCluster]>([
  ['500 pods of 150 KB', { plural: 'pods', objects: 500, object: pod(150 * KB) }],
  ['500 pods of 250 KB', { plural: 'pods', objects: 500, object: pod(250 * KB) }],
  [
    '500 pods of 32 KB, whose text has two bytes a character in memory',
    { plural: 'pods', objects: 500, object: pod(32 * KB, `語${'x'.repeat(253)}`) },
  ],
  ['80 Services of 240 KB', { plural: 'services', objects: 80, object: service(240 * KB) }],
])('lists %s within the memory of its Deployment', { timeout: 90_000 }, async (_, cluster) => {
  const { url } = await serveCluster(cluster);
  const relay = await startRelay(url);
  const kind = cluster.plural === 'pods' ? 'Pod' : 'Service';
  const parts = () => relay.messages.flatMap((m) => (m.type === 'list' && m.kind === kind ? [m] : []));
  await relay.until(() => parts().some((p) => p.isLast));
  expect(relay.peakMiB()).toBeLessThan(maxMiB);
  const names = parts().flatMap((p) => p.entries.map((e) => e.name));
  expect(names.sort()).toEqual(Array.from({ length: cluster.objects }, (_, i) => nameOf(i)));
});

it.runIf(platform() === 'linux')(
  'reads 150 watch events of 1 MB each within the memory of its Deployment',
  { timeout: 90_000 },
  async () => {
    const { url } = await serveCluster({ plural: 'pods', objects: 0, object: pod(1024 * KB), events: 150 });
    const relay = await startRelay(url);
    await relay.until(() => relay.messages.some((m) => m.type === 'live' && m.asOf === '1150'));
    expect(relay.peakMiB()).toBeLessThan(maxMiB);
  },
);
