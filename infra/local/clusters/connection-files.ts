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
}

/**
 * `dir` must belong to the run alone (0700). Each write replaces the file as a whole, so a reader never sees
 * half of it.
 */
export function connectionFiles(dir: string): ConnectionFiles {
  const all = join(dir, 'connections.json');
  const of = (cluster: string) => join(dir, `connection-${cluster}.json`);
  async function replace(file: string, content: unknown): Promise<void> {
    const temporary = `${file}.new`;
    await writeFile(temporary, JSON.stringify(content), { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, file);
  }
  return {
    all,
    of,
    async write(connections) {
      await replace(all, connections);
      for (const [cluster, connection] of Object.entries(connections)) await replace(of(cluster), connection);
    },
  };
}
