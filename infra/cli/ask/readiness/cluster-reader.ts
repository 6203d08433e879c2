/**
 * Reads objects of a cluster with the rights of the person at the terminal: through a local run's connection,
 * else through kubectl.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { statusError } from '#shared/clusters/api/status.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { localApi } from './ask-cluster.ts';

export interface ClusterReader {
  /** The way to the cluster, as in "read by NAME". */
  readonly name: string;
  /** Resolves to undefined if the API server lacks the path. */
  get(path: string): Promise<unknown>;
  close(): void;
}

/**
 * Rejects with the reason if the cluster is out of reach, or another cluster answers. `context` is one of
 * kubectl's.
 */
export async function clusterReader(
  hub: Pick<Hub, 'connectionsFile'>,
  { id, uid }: Pick<ClusterRecord, 'id' | 'uid'>,
  context?: string,
): Promise<ClusterReader> {
  const reader = (hub.connectionsFile && (await throughRun(hub, id))) || throughKubectl(context);
  try {
    const found = (await reader.get('/api/v1/namespaces/kube-system')) as
      | { readonly metadata?: { readonly uid?: string } }
      | undefined;
    if (uid === '') throw new Error(`the hub does not know the identity of ${id} yet`);
    if (found?.metadata?.uid !== uid)
      throw new Error(`${reader.name} reaches another cluster: choose the context of ${id} with --context`);
    return reader;
  } catch (error) {
    reader.close();
    throw error;
  }
}

async function throughRun(hub: Pick<Hub, 'connectionsFile'>, id: string): Promise<ClusterReader | undefined> {
  const api = await localApi(hub, id);
  return (
    api && {
      name: 'the local run',
      async get(path) {
        const answer = await api.transport.request('GET', path, { idempotent: true });
        if (answer.status === 404) return undefined;
        if (answer.status >= 300) throw statusError(answer);
        return JSON.parse(answer.body.toString());
      },
      close: () => api.close(),
    }
  );
}

function throughKubectl(context: string | undefined): ClusterReader {
  const chosen = context === undefined ? [] : ['--context', context];
  return {
    name: context === undefined ? "kubectl's current context" : `kubectl's context ${context}`,
    async get(path) {
      try {
        const { stdout } = await promisify(execFile)(
          'kubectl',
          [...chosen, '--request-timeout=10s', 'get', '--raw', path],
          { maxBuffer: 2 ** 27 },
        );
        return JSON.parse(stdout);
      } catch (error) {
        const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
        if (code === 'ENOENT') throw new Error('kubectl is not in PATH');
        if (stderr?.includes('(NotFound)')) return undefined;
        throw new Error(`kubectl: ${(stderr?.trim() || message).split('\n').at(-1)}`);
      }
    },
    close: () => {},
  };
}
