/** Where the clusters of a local run come from: embedded ones in a process of their own, or contexts of a kubeconfig. */
import { UsageError } from '#infra/cli/usage-error.ts';
import { clustersProcess } from './child-specs.ts';
import { type ClustersetOptions, takesPart } from './clusterset-options.ts';
import type { Connections } from './connection-files.ts';
import type { KubeconfigOptions } from './options.ts';
import { embeddedCidrs, type PodRanges } from './pod-ranges.ts';
import type { Child, ChildSpec } from './supervisor.ts';

export interface ClusterSource {
  readonly ids: readonly string[];
  /** Of the pods of each cluster, where they are known beforehand. */
  readonly podRanges: PodRanges;
  connect(start: (spec: ChildSpec) => Child): Promise<Connections>;
  /** Credentials change while a run lasts: called with them for as long as the process lives. */
  onRenewal?(renewed: (connections: Connections) => Promise<void>): void;
}

export function embeddedClusters(count: number, clusterset: Pick<ClustersetOptions, 'imports' | 'exports'>): ClusterSource {
  const ids = Array.from({ length: count }, (_, i) => `demo-${i + 1}`);
  const spec = clustersProcess(ids, takesPart(clusterset));
  return {
    ids,
    podRanges: Object.fromEntries(ids.map((id, i) => [id, embeddedCidrs(i)])),
    connect: async (start) => (await start(spec).ready).connections ?? {},
  };
}

/** Tokens expire; those of plug-ins are asked for here, where they can be run. */
const renewalMs = 10_000;

export async function clustersOfKubeconfig({ file, contexts }: KubeconfigOptions): Promise<ClusterSource> {
  // A hundred megabytes of client-node, which embedded clusters have no use for.
  const { kubeconfigCluster } = await import('./kubeconfig.ts');
  const wanted: readonly (string | undefined)[] = contexts.length === 0 ? [undefined] : contexts;
  const clusters = await Promise.all(wanted.map((context) => kubeconfigCluster(file, context)));
  const named = await Promise.all(
    clusters.map(async (cluster) => ({ ...cluster, id: clusterId(cluster.context), server: (await cluster.connection()).server })),
  );
  refuseTwice(named);
  const connections = async (): Promise<Connections> =>
    Object.fromEntries(await Promise.all(named.map(async ({ id, connection }) => [id, await connection()] as const)));
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
      // A plug-in that fails once is asked again; until then the old token is tried.
      setInterval(() => void renew().catch(() => {}), renewalMs).unref();
    },
  };
}

interface Named {
  readonly context: string;
  readonly id: string;
  readonly server: string;
}

/** Two relays of one cluster would each speak for a cluster of its own, and every Service of it would be exported twice. */
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
      throw new UsageError(`--context ${a.context} and --context ${sameServer.context} are one cluster: both have the server ${a.server}`);
  }
}

/** A context's name as a cluster id: at most 63 of a-z, 0-9 and "-". */
export function clusterId(context: string): string {
  const id = context
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  return id || 'cluster';
}
