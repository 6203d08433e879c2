/** The clusters of a local run: embedded clusters in a process of their own, or contexts of a kubeconfig. */
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { KubeconfigOptions } from '../options.ts';
import { clustersProcess } from '../processes/child-specs.ts';
import type { Child, ChildSpec } from '../processes/supervisor.ts';
import { joinsSet, type SetOptions } from '../set-options.ts';
import type { Connections } from './connection-files.ts';
import { embeddedCidrs, type PodRanges } from './pod-ranges.ts';

export interface ClusterSource {
  readonly ids: readonly string[];
  /** The ranges of pod addresses of each cluster, if they are known beforehand. */
  readonly podRanges: PodRanges;
  connect(start: (spec: ChildSpec) => Child): Promise<Connections>;
  /** Calls back with new credentials, which may change until the process ends. */
  onRenewal?(renewed: (connections: Connections) => Promise<void>): void;
}

export function embeddedClusters(
  count: number,
  clusterset: Pick<SetOptions, 'imports' | 'exports'>,
): ClusterSource {
  const ids = Array.from({ length: count }, (_, i) => `demo-${i + 1}`);
  const spec = clustersProcess(ids, joinsSet(clusterset));
  return {
    ids,
    podRanges: Object.fromEntries(ids.map((id, i) => [id, embeddedCidrs(i)])),
    connect: async (start) => (await start(spec).ready).connections ?? {},
  };
}

/** Tokens expire, and only this process can run the plug-ins that issue them. */
const renewalMs = 10_000;

export async function clustersOfKubeconfig({ file, contexts }: KubeconfigOptions): Promise<ClusterSource> {
  // The Kubernetes client takes a hundred megabytes, and embedded clusters do not need it.
  const { kubeconfigCluster } = await import('./kubeconfig.ts');
  const wanted: readonly (string | undefined)[] = contexts.length === 0 ? [undefined] : contexts;
  const clusters = await Promise.all(wanted.map((context) => kubeconfigCluster(file, context)));
  const named = await Promise.all(
    clusters.map(async (cluster) => ({
      ...cluster,
      id: clusterId(cluster.context),
      server: (await cluster.connection()).server,
    })),
  );
  refuseTwice(named);
  const connections = async (): Promise<Connections> =>
    Object.fromEntries(
      await Promise.all(named.map(async ({ id, connection }) => [id, await connection()] as const)),
    );
  return {
    ids: named.map(({ id }) => id),
    podRanges: {},
    connect: connections,
    onRenewal(renewed) {
      let last = '';
      const renew = async () => {
        const now = await connections();
        const text = JSON.stringify(now);
        if (text !== last) await renewed(now);
        last = text;
      };
      // After a failure of a plug-in the old token stays until the next renewal.
      setInterval(() => void renew().catch(() => {}), renewalMs).unref();
    },
  };
}

interface Named {
  readonly context: string;
  readonly id: string;
  readonly server: string;
}

/** With two relays one cluster would count as two clusters, and export each Service twice. */
function refuseTwice(clusters: readonly Named[]): void {
  const address = ({ server }: Named): string => new URL(server).href.replace(/\/$/, '');
  for (const [i, a] of clusters.entries()) {
    const rest = clusters.slice(i + 1);
    const sameId = rest.find(({ id }) => id === a.id);
    if (sameId)
      throw new UsageError(
        `--context ${a.context} and --context ${sameId.context} would both be cluster ${a.id}: rename one of them (kubectl config rename-context)`,
      );
    const sameServer = rest.find((b) => address(b) === address(a));
    if (sameServer)
      throw new UsageError(
        `--context ${a.context} and --context ${sameServer.context} are one cluster: both have the server ${a.server}`,
      );
  }
}

/** Turns a context's name into a cluster id of at most 63 characters of a-z, 0-9 and "-". */
export function clusterId(context: string): string {
  const id = context
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  return id || 'cluster';
}
