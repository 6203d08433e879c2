/** Where the clusters of a local run come from: embedded ones in a process of their own, or one that a kubeconfig names. */
import type { Connections } from './connection-files.ts';
import { clustersProcess } from './processes.ts';
import type { Child, ChildSpec } from './supervisor.ts';

export interface ClusterSource {
  readonly ids: readonly string[];
  connect(start: (spec: ChildSpec) => Child): Promise<Connections>;
  /** Credentials that were renewed. */
  onChange(changed: (connections: Connections) => unknown): void;
}

export function embeddedClusters(count: number): ClusterSource {
  const ids = Array.from({ length: count }, (_, i) => `demo-${i + 1}`);
  return {
    ids,
    connect: async (start) => (await start(clustersProcess(ids)).ready).connections ?? {},
    onChange() {},
  };
}

export async function kubeconfigCluster(_: { readonly file: string; readonly context: string | undefined }): Promise<ClusterSource> {
  throw new Error('not there yet');
}
