/**
 * A real control plane, a local run that reaches it through a proxy, and a second sync worker beside the
 * run's own.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connectHub, type Hub, type LocalAddresses, localHubFile } from '#infra/cli/hub/connect-hub.ts';
import { hubProcesses } from '#infra/local/processes/child-specs.ts';
import { type Child, startChild } from '#infra/local/processes/supervisor.ts';
import { listClusters, readCluster } from '#shared/clusters/record.ts';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { type TcpProxy, tcpProxy } from '#test/support/network/tcp-proxy.ts';

export const otherControllers = 'namespace-controller,garbage-collector-controller';

/** Lease by which the relays of a run elect their leader: the run's own relay and those of a test. */
export const relayLease = 'kube-system/relay';

/** Counts all relays, with any connection to the queue. */

export interface Scene {
  readonly controlPlane: ControlPlane;
  readonly proxy: TcpProxy;
  /** A user's way to the cluster, beside the proxy. */
  readonly api: Api;
  readonly hub: Hub;
  readonly cluster: string;
  readonly addresses: LocalAddresses;
  /** For files of a test, until the end. */
  readonly folder: string;
  /** Output of all processes so far, with that of the killed run. */
  readonly lines: readonly string[];
  say(line: string): void;
  /** By name: those of the run, and `sync 2`. */
  processes(): Promise<ReadonlyMap<string, number>>;
  /** SIGKILL for all of the hub and the relay at once, and everything again from what is on disk. */
  restart(): Promise<void>;
  /** `fleet-endpoints cluster …` against this run. */
  command(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  stop(): Promise<void>;
}

export async function startScene(): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-faults-'));
  const controlPlane = await startControlPlane({ controllers: otherControllers });
  const { connection } = controlPlane;
  const proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(connection.server).port) });
  const kubeconfig = join(folder, 'kubeconfig.yaml');
  await writeFile(kubeconfig, kubeconfigText({ ...connection, server: `https://127.0.0.1:${proxy.port}` }), {
    mode: 0o600,
  });
  const api = connectApi(connection);
  const lines: string[] = [];

  async function startHub() {
    const run = startLocalRun(
      ['--kubeconfig', kubeconfig, '--mode', 'active', '--controllers-off', '--data', join(folder, 'data')],
      {
        RELAY_LEASE: relayLease,
      },
    );
    try {
      const [, consoleUrl = ''] = await run.line(/console at (http\S+)/);
      await run.line(/^ready/, 120_000);
      const { pid, addresses } = await findRun(consoleUrl);
      const hub = connectHub({ HUB: String(pid) });
      const [cluster = ''] = await listClusters(hub.table);
      await hub.directory.know(cluster);
      return {
        run,
        pid,
        addresses,
        hub,
        cluster,
        second: await secondWorker(hub, cluster, addresses, lines),
      };
    } catch (e) {
      await run.stop();
      throw e;
    }
  }

  let current = await startHub();
  const forget = async (): Promise<void> => {
    lines.push(...current.run.lines);
    current.hub.sqs.destroy();
    current.hub.dynamodb.destroy();
    await rm(localHubFile(current.pid), { force: true });
    await rm(dirname(current.addresses.connectionsFile), { recursive: true, force: true });
  };

  return {
    controlPlane,
    proxy,
    api,
    get hub() {
      return current.hub;
    },
    get cluster() {
      return current.cluster;
    },
    folder,
    get addresses() {
      return current.addresses;
    },
    say: (line) => void lines.push(line),
    get lines() {
      return [...lines, ...current.run.lines];
    },
    async processes() {
      const answer = await fetch(`${current.addresses.consoleUrl}/healthz`);
      const { processes } = (await answer.json()) as { processes: { name: string; pid?: number }[] };
      const all = [...processes, { name: 'sync 2', pid: current.second.pid }];
      return new Map(all.flatMap(({ name, pid }) => (pid === undefined ? [] : [[name, pid] as const])));
    },
    async restart() {
      await Promise.all([current.second.stop(0), killGroup(current.run)]);
      await forget();
      current = await startHub();
    },
    command: (...args) =>
      new Promise((resolve) => {
        const env = { ...process.env, HUB: String(current.pid) };
        execFile(
          process.execPath,
          ['infra/cli/command/fleet-endpoints.main.ts', 'cluster', ...args],
          { env },
          (error, stdout, stderr) =>
            resolve({
              code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
              output: stdout + stderr,
            }),
        );
      }),
    async stop() {
      await current.second.stop(2_000);
      await current.run.stop();
      await forget();
      api.close();
      await proxy.close();
      await controlPlane.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A local run by its console's address: its process, and where its hub is. */
export async function findRun(
  consoleUrl: string,
): Promise<{ readonly pid: number; readonly addresses: LocalAddresses }> {
  const folder = dirname(localHubFile(0));
  for (const file of await readdir(folder)) {
    const addresses = JSON.parse(
      await readFile(join(folder, file), 'utf8').catch(() => '{}'),
    ) as LocalAddresses;
    if (addresses.consoleUrl === consoleUrl) return { pid: Number.parseInt(file, 10), addresses };
  }
  throw new Error(`no run has left the address ${consoleUrl}`);
}

/** As the supervisor of the run would start it: killed, it comes back. */
async function secondWorker(
  hub: Hub,
  cluster: string,
  addresses: LocalAddresses,
  lines: string[],
): Promise<Child> {
  const queues = (await readCluster(hub.table, cluster))?.queues;
  if (!queues) throw new Error(`${cluster} has no queues`);
  const { tableUrl, queuesUrl, connectionsFile: all } = addresses;
  const specs = hubProcesses({
    tableUrl,
    queuesUrl,
    queues: { [cluster]: queues },
    connections: { all, of: () => all },
  });
  const spec = specs.find((s) => s.name === 'sync');
  if (!spec) throw new Error('a local run has no process sync');
  const say = (line: string): void => void lines.push(`sync 2: ${line}`);
  const child = startChild(
    { ...spec, name: 'sync 2' },
    {
      onLine: (_, line) => void (line.includes('"level":"error"') && say(line)),
      onNotice: say,
      onFatal: say,
    },
  );
  await child.ready;
  return child;
}

async function killGroup(run: LocalRun): Promise<void> {
  process.kill(-run.pid, 'SIGKILL');
  await run.stop();
}
