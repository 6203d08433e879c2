/**
 * Two relays beside the one of the run, candidates for the same Lease, each with ways of its own to the API
 * server and to the queues.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { relayProcess } from '#infra/local/processes/child-specs.ts';
import { type Child, startChild } from '#infra/local/processes/supervisor.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { relayEnv } from '#shared/contract/env.ts';
import { type TcpProxy, tcpProxy } from '#test/support/network/tcp-proxy.ts';
import { relayLease, type Scene } from './scene.ts';
import { until } from './until.ts';

export interface WatchedRelay {
  readonly name: string;
  readonly api: TcpProxy;
  readonly queues: TcpProxy;
  /** Number of times that the relay began to lead, and the last time (performance.now). */
  readonly turns: number;
  readonly spokeAt: number;
  signal(name: NodeJS.Signals): void;
  isReady(): Promise<boolean>;
  /** False also for a relay that does not answer. */
  isLeading(): Promise<boolean>;
}

export interface RelayPair {
  /** The relay of the run itself. */
  readonly first: WatchedRelay;
  readonly relays: readonly [WatchedRelay, WatchedRelay];
  stop(): Promise<void>;
}

export async function startRelayPair(scene: Scene): Promise<RelayPair> {
  const started = await Promise.all(['relay b', 'relay c'].map((name) => startRelay(scene, name)));
  const [a, b] = started as [(typeof started)[0], (typeof started)[0]];
  for (const { relay } of started)
    if (!(await until(() => relay.isReady()))) throw new Error(`${relay.name} does not become ready`);
  const pid = [...(await scene.processes())].find(([name]) => name.startsWith('relay '))?.[1];
  if (pid === undefined) throw new Error('the run has no relay');
  const none = { turns: 0, spokeAt: 0, isReady: async () => true, isLeading: async () => false };
  const first: WatchedRelay = {
    name: 'relay a',
    api: scene.proxy,
    queues: scene.proxy,
    ...none,
    signal: (name) => void process.kill(pid, name),
  };
  return {
    first,
    relays: [a.relay, b.relay],
    async stop() {
      await Promise.all(started.map((s) => s.stop()));
    },
  };
}

async function startRelay(scene: Scene, name: string) {
  const { hub, cluster, addresses, controlPlane, folder } = scene;
  const queues = (await readCluster(hub.table, cluster))?.queues;
  if (!queues) throw new Error(`${cluster} has no queues`);
  const { connection } = controlPlane;
  const api = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(connection.server).port) });
  const queueServer = new URL(addresses.queuesUrl);
  const toQueues = await tcpProxy({ host: queueServer.hostname, port: Number(queueServer.port) });
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify({ ...connection, server: `https://127.0.0.1:${api.port}` }), {
    mode: 0o600,
  });
  const { tableUrl } = addresses;
  const connections = { all: file, of: () => file };
  // The queue's URL contains its address.
  const queuesUrl = `http://127.0.0.1:${toQueues.port}`;
  const through = { [cluster]: { ...queues, events: `${queuesUrl}${new URL(queues.events).pathname}` } };
  const spec = relayProcess({ tableUrl, queuesUrl, queues: through, connections }, cluster, {
    mode: 'active',
    takesPart: false,
  });

  let turns = 0;
  let spokeAt = 0;
  let port = 0;
  const say = (line: string): void => {
    scene.say(`${name}: ${line}`);
    if (!line.startsWith('{')) return;
    const { message, address } = JSON.parse(line) as {
      readonly message?: string;
      readonly address?: { readonly port: number };
    };
    if (message === 'relay started') port = address?.port ?? 0;
    if (message !== 'session begun') return;
    turns++;
    spokeAt = performance.now();
  };
  const ask = async (path: string): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
  const env = { ...spec.env, [relayEnv.lease]: relayLease, [relayEnv.resyncSeconds]: '86400' };
  const child: Child = startChild(
    { ...spec, name, env },
    { onLine: (_, line) => say(line), onNotice: say, onFatal: say },
  );
  const relay: WatchedRelay = {
    name,
    api,
    queues: toQueues,
    get turns() {
      return turns;
    },
    get spokeAt() {
      return spokeAt;
    },
    signal: (signal) => void (child.pid && process.kill(child.pid, signal)),
    isReady: async () => (await ask('/readyz'))?.ok ?? false,
    isLeading: async () => /^relay_leading(\{.*\})? 1$/m.test((await (await ask('/metrics'))?.text()) ?? ''),
  };
  return {
    relay,
    async stop() {
      await child.stop(2_000);
      await Promise.all([api.close(), toQueues.close()]);
    },
  };
}
