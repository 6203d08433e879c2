/**
 * Real control planes with the Multi-Cluster Services API, and one hub over all of them: `npm start` with a
 * context for each.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectHub, type Hub } from '#infra/cli/hub/connect-hub.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { findRun } from '#test/cluster/faults/scene.ts';
import { connectApi } from '#test/e2e/api.ts';
import { observe } from '#test/e2e/observed.ts';
import { clusterCommand } from '#test/support/cluster-command.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '#test/support/control-plane/control-plane.ts';
import { kubeconfigOf } from '#test/support/control-plane/kubeconfig.ts';
import { bothKinds, installMcs, type McsKind } from '#test/support/control-plane/mcs-crds.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { applyAccess, grantRelaysRights, writerConnection } from '#test/support/relay-install.ts';
import { type ClusterWorld, clusterWorld, type Member } from './cluster-world.ts';

/** A managed cluster's own: they never touch what is ours, and are there to prove it. */
export const builtInControllers = [
  'namespace-controller',
  'garbage-collector-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
];

/** Ranges of the pods of each cluster. The clusters b and c share one. */
const podRanges = {
  a: ['10.1.0.0/16', 'fd00:1::/64'],
  b: ['10.2.0.0/16', '10.9.0.0/16', 'fd00:2::/64'],
  c: ['10.3.0.0/16', '10.9.0.0/16'],
};

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
  /** `fleet-endpoints cluster …` against this hub. */
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

export interface FleetOptions {
  readonly members: { readonly [id: string]: MemberOptions };
  readonly sameness: 'all' | 'labelled';
}

export async function startFleet({ members, sameness }: FleetOptions): Promise<Fleet> {
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
    run = startLocalRun([
      '--kubeconfig',
      kubeconfig,
      ...contexts,
      '--data',
      join(folder, 'data'),
      ...inSet,
      '--sameness',
      sameness,
    ]);
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
    // An error of one of them must not leave the others running.
    await Promise.allSettled([stopHub(), ...started.map(({ observed }) => observed.stop())]);
    for (const { api } of started) api.close();
    await Promise.all(started.map(({ controlPlane }) => controlPlane.stop()));
    await rm(folder, { recursive: true, force: true });
  }

  try {
    for (const [id, options] of Object.entries(members)) started.push(await startMember(id, options));
    const connections = Object.fromEntries(
      await Promise.all(
        started.map(
          async ({ id, controlPlane }) => [id, await writersWay(id, controlPlane, sameness)] as const,
        ),
      ),
    );
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
      await Promise.all(
        worlds.filter(({ id }) => ids?.includes(id) ?? true).map((world) => world.createNamespace()),
      );
      return { namespace, all: worlds, of: (id) => worlds.find((world) => world.id === id) as ClusterWorld };
    },
    async processes() {
      const { processes } = (await (await fetch(`${consoleUrl}/healthz`)).json()) as {
        processes: { name: string; pid?: number }[];
      };
      return new Map(processes.flatMap((p) => (p.pid === undefined ? [] : [[p.name, p.pid] as const])));
    },
    command: (...words) => clusterCommand(pid, words),
    stopHub,
    startHub,
    stop,
  };
}

const inSet = ['--imports', 'active', '--exports', 'all'];

/**
 * As the writer and the relay, with the rights and under the admission policies of the manifest, and no more.
 */
async function writersWay(
  cluster: string,
  controlPlane: ControlPlane,
  sameness: FleetOptions['sameness'],
): Promise<Connection> {
  await applyAccess(controlPlane, undefined, {
    imports: { cluster, set: 'default', sameness, sources: podRanges },
  });
  for (const role of ['fleet-endpoints-relay', 'fleet-endpoints-relay-clusterset'])
    await grantRelaysRights(controlPlane, role);
  return writerConnection(controlPlane);
}

async function startMember(id: string, { kinds = bothKinds, ...options }: MemberOptions): Promise<Member> {
  const controlPlane = await startControlPlane({ controllers: builtInControllers.join(), ...options });
  await installMcs(controlPlane.connection, kinds);
  const api = connectApi(controlPlane.connection);
  const zones = ['zone-a', 'zone-b'];
  // Every cluster names its nodes so: an imported endpoint that named one would count as local (MC-64).
  for (const [i, zone] of zones.entries())
    await api.create('Node', '', {
      metadata: { name: `node-${i}`, labels: { 'topology.kubernetes.io/zone': zone } },
    });
  return { id, controlPlane, api, observed: await observe(api) };
}
