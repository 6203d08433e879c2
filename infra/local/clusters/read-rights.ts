/** Checks that the user of a kubeconfig may read what a relay reads, before a local run starts the relays. */
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { collectionPath, resources } from '#shared/clusters/api/resources.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import { kinds } from '#shared/kube/types.ts';
import type { Connections } from './connection-files.ts';

/**
 * Throws a UsageError for a call that an API server refuses. The relay of an unreachable cluster logs the
 * error and tries again.
 */
export async function refuseMissingRights(connections: Connections): Promise<void> {
  for (const [id, connection] of Object.entries(connections)) {
    const refusal = await refusalOf(connection).catch(() => undefined);
    if (refusal !== undefined) throw new UsageError(`cluster ${id}: ${refusal}`);
  }
}

/** The relay's calls: verb, resource, path. */
const calls = [
  ['get', 'namespaces', '/api/v1/namespaces/kube-system'],
  ...kinds.map((kind) => ['list', resources[kind].plural, `${collectionPath(kind, '')}?limit=1`]),
  ...kinds.map((kind) => ['watch', resources[kind].plural, `${collectionPath(kind, '')}?watch=true`]),
];

async function refusalOf(connection: Connection): Promise<string | undefined> {
  const transport = httpTransport(connection, { userAgent: 'fleet-endpoints-start', timeoutMs: 5_000 });
  try {
    const statuses = await Promise.all(calls.map(([, , path = '']) => statusOf(transport, path)));
    const refused = statuses.findIndex((status) => status === 401 || status === 403);
    const [verb, resource] = calls[refused] ?? [];
    if (statuses[refused] === 403)
      return `the API server forbids us to ${verb} ${resource} (403 Forbidden): grant it to this user and start again`;
    if (statuses[refused] === 401)
      return `the API server does not accept these credentials (401 Unauthorized, to ${verb} ${resource})`;
    return undefined;
  } finally {
    transport.close();
  }
}

async function statusOf(transport: HttpTransport, path: string): Promise<number> {
  const { status, destroy } = await transport.stream('GET', path);
  destroy();
  return status;
}
