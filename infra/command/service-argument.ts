/** The arguments CLUSTER NAMESPACE/SERVICE of the commands that are about one service. */
import type { Command } from 'commander';
import { UsageError } from '#infra/cli/usage-error.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

export const withService = (command: Command): Command =>
  command.argument('[cluster]', 'its id; without one the clusters are listed').argument('[service]', 'NAMESPACE/SERVICE');

/** Throws a UsageError for a cluster that the hub does not know, and for a service without its namespace. */
export async function serviceOf(table: Table, chosen: string | undefined, service = ''): Promise<ServiceKey> {
  const { chosenClusters } = await import('#infra/cli/connect-hub.ts');
  const [cluster = ''] = await chosenClusters(table, chosen);
  const [, namespace, name] = service.match(/^([^/]+)\/([^/]+)$/) ?? [];
  if (!namespace || !name) throw new UsageError(`which service? NAMESPACE/SERVICE is needed, ${JSON.stringify(service)} was given`);
  return { cluster, namespace, name };
}
