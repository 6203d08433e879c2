/**
 * The clusters' credentials of a local run, in files that only this user can read and that the run deletes at
 * its end.
 */
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '#shared/clusters/api/connection.ts';

export type Connections = { readonly [cluster: string]: Connection };

export interface ConnectionFiles {
  /** File with the connections of all clusters by id, for sync. */
  readonly all: string;
  /** File with the connection of one cluster, for its relay. */
  of(cluster: string): string;
  write(connections: Connections): Promise<void>;
  /** Writes a kubeconfig of the clusters. Resolves to its path. */
  writeKubeconfig(connections: Connections): Promise<string>;
}

/**
 * Text of a kubeconfig for the embedded clusters, which ask for no credentials. JSON is YAML, too. Its current
 * context is the first cluster.
 */
export function kubeconfigText(connections: Connections): string {
  const entries = Object.entries(connections);
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': entries[0]?.[0] ?? '',
      clusters: entries.map(([name, { server }]) => ({ name, cluster: { server } })),
      users: [{ name: 'demo', user: {} }],
      contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: 'demo' } })),
    },
    undefined,
    2,
  );
}

/**
 * `dir` must belong to the run alone (0700). Each write replaces the file as a whole, so a reader never sees
 * half of it.
 */
export function connectionFiles(dir: string): ConnectionFiles {
  const all = join(dir, 'connections.json');
  const of = (cluster: string) => join(dir, `connection-${cluster}.json`);
  async function replace(file: string, content: string): Promise<void> {
    const temporary = `${file}.new`;
    await writeFile(temporary, content, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, file);
  }
  return {
    all,
    of,
    async write(connections) {
      await replace(all, JSON.stringify(connections));
      for (const [cluster, connection] of Object.entries(connections))
        await replace(of(cluster), JSON.stringify(connection));
    },
    async writeKubeconfig(connections) {
      const file = join(dir, 'kubeconfig');
      await replace(file, kubeconfigText(connections));
      return file;
    },
  };
}
