/** Real control planes with the Multi-Cluster Services API, and one hub over all of them: `npm start` with a context for each. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectHub, type Hub } from '#infra/cli/connect-hub.ts';
import { findRun } from '#test/cluster/faults/scene.ts';
import { connectApi } from '#test/e2e/api.ts';
import { observe } from '#test/e2e/observed.ts';
import { type ControlPlaneOptions, startControlPlane } from '#test/support/control-plane.ts';
import { kubeconfigOf } from '#test/support/kubeconfig.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { bothKinds, installMcs, type McsKind } from '#test/support/mcs-crds.ts';
import { type ClusterWorld, clusterWorld, type Member } from './cluster-world.ts';

/** A managed cluster's own: they never touch what is ours, and are there to prove it. */
const builtIn = [
  'namespace-controller',
  'garbage-collector-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
].join();

export interface MemberOptions extends ControlPlaneOptions {
  /** Kinds of the API that are installed when the hub starts. */
  readonly kinds?: readonly McsKind[];
}

export interface Fleet {
  readonly members: { readonly [id: string]: Member };
  readonly hub: Hub;
  readonly lines: readonly string[];
  /** A namespace of its own, in these clusters (by default in all). */
  world(ids?: readonly string[]): Promise<SetWorld>;
  /** Process ids by name. */
  processes(): Promise<ReadonlyMap<string, number>>;
  /** `npm run cluster -- …` against this hub. */
  command(...args: readonly string[]): Promise<string>;
  stopHub(): Promise<void>;
  startHub(): Promise<void>;
  stop(): Promise<void>;
}

export interface SetWorld {
  readonly namespace: string;
  of(id: string): ClusterWorld;
  readonly all: readonly ClusterWorld[];
}

/** A fact about a set of clusters, in a namespace of its own in each. All run at the same time. */
export type Scenario = (fact: string, body: (set: SetWorld) => Promise<void>) => void;

export async function startFleet(members: { readonly [id: string]: MemberOptions }, args: readonly string[]): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-multi-cluster-'));
  const started: Member[] = [];
  let run: LocalRun | undefined;
  let hub: Hub | undefined;
  let consoleUrl = '';
  let pid = 0;
  const lines: string[] = [];
  const kubeconfig = join(folder, 'kubeconfig.yaml');

  async function startHub(): Promise<void> {
    const contexts = Object.keys(members).flatMap((id) => ['--context', id]);
    run = startLocalRun(['--kubeconfig', kubeconfig, ...contexts, '--data', join(folder, 'data'), ...args]);
    [, consoleUrl = ''] = await run.line(/console at (http\S+)/, 120_000);
    await run.line(/^ready/, 120_000);
    ({ pid } = await findRun(consoleUrl));
    hub = connectHub({ HUB: String(pid) });
  }
  async function stopHub(): Promise<void> {
    hub?.sqs.destroy();
    hub?.dynamodb.destroy();
    await run?.stop();
    lines.push(...(run?.lines ?? []));
    [run, hub] = [undefined, undefined];
  }
  async function stop(): Promise<void> {
    for (const { observed } of started) await observed.stop();
    await stopHub();
    for (const { api } of started) api.close();
    await Promise.all(started.map(({ controlPlane }) => controlPlane.stop()));
    await rm(folder, { recursive: true, force: true });
  }

  try {
    for (const [id, options] of Object.entries(members)) started.push(await startMember(id, options));
    const connections = Object.fromEntries(started.map(({ id, controlPlane }) => [id, controlPlane.connection]));
    await writeFile(kubeconfig, kubeconfigOf(connections), { mode: 0o600 });
    await startHub();
  } catch (e) {
    await stop();
    throw e;
  }

  let namespaces = 0;
  return {
    members: Object.fromEntries(started.map((member) => [member.id, member])),
    get hub() {
      if (!hub) throw new Error('the hub is stopped');
      return hub;
    },
    get lines() {
      return [...lines, ...(run?.lines ?? [])];
    },
    async world(ids) {
      const namespace = `shop-${++namespaces}`;
      const worlds = started.map((member) => clusterWorld(member, namespace));
      await Promise.all(worlds.filter(({ id }) => ids?.includes(id) ?? true).map((world) => world.createNamespace()));
      return { namespace, all: worlds, of: (id) => worlds.find((world) => world.id === id) as ClusterWorld };
    },
    async processes() {
      const { processes } = (await (await fetch(`${consoleUrl}/healthz`)).json()) as { processes: { name: string; pid?: number }[] };
      return new Map(processes.flatMap((p) => (p.pid === undefined ? [] : [[p.name, p.pid] as const])));
    },
    command: (...words) =>
      new Promise((resolve, reject) => {
        const env = { ...process.env, HUB: String(pid) };
        execFile('npm', ['run', '-s', 'cluster', '--', ...words], { env }, (error, stdout, stderr) =>
          error ? reject(new Error(`${words.join(' ')}: ${stdout}${stderr}`, { cause: error })) : resolve(stdout + stderr),
        );
      }),
    stopHub,
    startHub,
    stop,
  };
}

async function startMember(id: string, { kinds = bothKinds, ...options }: MemberOptions): Promise<Member> {
  const controlPlane = await startControlPlane({ controllers: builtIn, ...options });
  await installMcs(controlPlane.connection, kinds);
  const api = connectApi(controlPlane.connection);
  const zones = ['zone-a', 'zone-b'];
  // Every cluster names its nodes so: an imported endpoint that named one would count as local (MC-64).
  for (const [i, zone] of zones.entries())
    await api.create('Node', '', { metadata: { name: `node-${i}`, labels: { 'topology.kubernetes.io/zone': zone } } });
  return { id, controlPlane, api, observed: await observe(api) };
}
