/** Where the clusters of a local run come from: embedded ones in a process of their own, or one that a kubeconfig names. */

import { clustersProcess } from './child-specs.ts';
import type { Connections } from './connection-files.ts';
import type { Child, ChildSpec } from './supervisor.ts';

export interface ClusterSource {
  readonly ids: readonly string[];
  connect(start: (spec: ChildSpec) => Child): Promise<Connections>;
  /** Credentials change while a run lasts: called with them for as long as the process lives. */
  onRenewal?(renewed: (connections: Connections) => Promise<void>): void;
}

export function embeddedClusters(count: number): ClusterSource {
  const ids = Array.from({ length: count }, (_, i) => `demo-${i + 1}`);
  return { ids, connect: async (start) => (await start(clustersProcess(ids)).ready).connections ?? {} };
}

/** Tokens expire; those of plug-ins are asked for here, where they can be run. */
const renewalMs = 10_000;

export async function clusterOfKubeconfig(options: { readonly file: string; readonly context: string | undefined }): Promise<ClusterSource> {
  // A hundred megabytes of client-node, which embedded clusters have no use for.
  const { kubeconfigCluster } = await import('./kubeconfig.ts');
  const cluster = await kubeconfigCluster(options.file, options.context);
  const id = clusterId(cluster.context);
  const connections = async (): Promise<Connections> => ({ [id]: await cluster.connection() });
  return {
    ids: [id],
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
