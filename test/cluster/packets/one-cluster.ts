/**
 * One cluster with nodes, whose endpoints are written by the hub, by kube-controller-manager, or by both as
 * with opt-in.
 */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findRun } from '#test/cluster/faults/scene.ts';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { type Observed, observe } from '#test/e2e/observed.ts';
import { clusterCommand } from '#test/support/cluster-command.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { applyAccess, grantRelaysRights, writerConnection } from '#test/support/relay-install.ts';
import { type ClusterNodes, startNodes } from './cluster-nodes.ts';
import { apiAddress } from './network.ts';
import { type User, userOf } from './user.ts';

/** The roles of clusters: the hub in place of the two controllers, these alone, and the hub beside them. */
export type Writer = 'fleet-endpoints' | 'kube-controller-manager' | 'opt-in';

export interface OneCluster extends User {
  readonly api: Api;
  readonly controlPlane: ControlPlane;
  readonly observed: Observed;
  /** `fleet-endpoints cluster …` against the hub; CLUSTER stands for its cluster. */
  command(...args: readonly string[]): Promise<string>;
  /** The last output of the hub and of the nodes' programs. */
  readonly said: readonly string[];
  stop(): Promise<void>;
}

const workloads = [
  'deployment-controller',
  'replicaset-controller',
  'namespace-controller',
  'garbage-collector-controller',
];
const endpoints = ['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller'];
const flags: { readonly [writer in Writer]: readonly string[] } = {
  'fleet-endpoints': ['--mode', 'active', '--controllers-off'],
  'kube-controller-manager': [],
  'opt-in': ['--mode', 'shadow', '--opt-in', 'active'],
};

export async function startOneCluster(writer: Writer, nodeCount = 2): Promise<OneCluster> {
  const controllers = [...workloads, ...(writer === 'fleet-endpoints' ? [] : endpoints)].join();
  const controlPlane = await startControlPlane({ controllers, address: apiAddress('a') });
  const api = connectApi(controlPlane.connection);
  let run: LocalRun | undefined;
  let [hub, cluster] = [0, ''];
  let observed: Observed | undefined;
  let nodes: ClusterNodes | undefined;
  const stop = async (): Promise<void> => {
    await Promise.allSettled([run?.stop(), nodes?.stop(), observed?.stop()]);
    api.close();
    await controlPlane.stop();
  };
  try {
    if (writer !== 'kube-controller-manager') {
      const kubeconfig = await hubsKubeconfig(controlPlane, writer);
      run = startLocalRun(['--kubeconfig', kubeconfig, ...flags[writer]]);
      const [, consoleUrl = ''] = await run.line(/console at (http\S+)/, 120_000);
      [, cluster = ''] = await run.line(/^ready: (\S+)/, 120_000);
      hub = (await findRun(consoleUrl)).pid;
    }
    observed = await observe(api);
    nodes = await startNodes({ cluster: 'a', controlPlane, api, nodes: nodeCount });
  } catch (e) {
    await stop();
    throw e;
  }
  return {
    ...userOf(controlPlane, nodes),
    api,
    controlPlane,
    observed,
    command: (...args) =>
      clusterCommand(
        hub,
        args.map((a) => (a === 'CLUSTER' ? cluster : a)),
      ),
    get said() {
      return [...(run?.lines.slice(-40) ?? []), ...(nodes?.said.slice(-60) ?? [])];
    },
    stop,
  };
}

/** The hub enters as the writer of the relay's manifest, with its rights and under its policies. */
async function hubsKubeconfig(controlPlane: ControlPlane, writer: Writer): Promise<string> {
  await applyAccess(controlPlane, {
    builtIn: writer === 'fleet-endpoints',
    optIn: writer === 'opt-in',
    cleanup: true,
  });
  await grantRelaysRights(controlPlane);
  const kubeconfig = join(dirname(controlPlane.kubeconfig), 'writer.yaml');
  await writeFile(kubeconfig, kubeconfigText(await writerConnection(controlPlane)), { mode: 0o600 });
  return kubeconfig;
}
