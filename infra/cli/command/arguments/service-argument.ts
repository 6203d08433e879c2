/**
 * The arguments of the commands about one service: CLUSTER NAMESPACE/SERVICE, or CLUSTER SERVICE with -n
 * NAMESPACE.
 */
import type { Command } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

export const withService = (command: Command, service = 'NAMESPACE/SERVICE'): Command =>
  command
    .argument('[cluster]', "its id, or the cluster of kubectl's context")
    .argument('[service]', service)
    .option('-n, --namespace <name>', 'with SERVICE or svc/SERVICE as the argument');

/**
 * Without a cluster the first argument is the service, as `kubectl endpoints explain svc/web -n shop` has it,
 * and kubectl's context chooses the cluster. Throws a UsageError for an unknown cluster, and for a service
 * without its namespace.
 */
export async function serviceOf(
  table: Table,
  chosen: string | undefined,
  service: string | undefined,
  namespace?: string,
): Promise<ServiceKey> {
  const alone = service === undefined && chosen !== undefined ? serviceName(chosen, namespace) : undefined;
  if (alone && !(await listClusters(table)).includes(chosen as string))
    return { cluster: await ofContext(table), ...alone };
  const [{ chosenClusters }, { readServices }, { thereAre }] = await Promise.all([
    import('#infra/cli/hub/connect-hub.ts'),
    import('#infra/cli/ask/lists/list-services.ts'),
    import('#infra/cli/terminal/counted.ts'),
  ]);
  const [cluster = ''] = await chosenClusters(table, chosen ?? (await ofContext(table)));
  const found = serviceName(service ?? '', namespace);
  if (found) return { cluster, ...found };
  const names = (await readServices(table, cluster))
    .filter(({ metadata: of }) => namespace === undefined || of.namespace === namespace)
    .map(({ metadata: of }) => `${of.namespace}/${of.name}`);
  const given =
    service === undefined
      ? ''
      : `${JSON.stringify(service)} lacks its namespace (NAMESPACE/SERVICE, or -n NAMESPACE); `;
  throw new UsageError(`which service of ${cluster}? ${given}${thereAre(names)}`);
}

interface Listed {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

/** Returns the services to list, if the arguments name no service, or undefined. */
export async function listOf(
  table: Table,
  chosen: string | undefined,
  service: string | undefined,
  { namespace, allNamespaces = false }: Listed,
) {
  if (allNamespaces && (service !== undefined || namespace !== undefined))
    throw new UsageError('-A lists all services: leave the service and -n out');
  if (service !== undefined || (!allNamespaces && namespace === undefined)) return undefined;
  // An unknown name before -n is a service, and kubectl's context chooses its cluster.
  if (!allNamespaces && chosen !== undefined && !(await listClusters(table)).includes(chosen))
    return undefined;
  const { chosenClusters } = await import('#infra/cli/hub/connect-hub.ts');
  const [cluster = ''] = await chosenClusters(table, chosen ?? (await ofContext(table)));
  return { cluster, namespace };
}

const listClusters = async (table: Table): Promise<readonly string[]> =>
  (await import('#shared/clusters/record.ts')).listClusters(table);

const ofContext = async (table: Table): Promise<string> =>
  (await import('#infra/cli/hub/kubectl-context.ts')).clusterOfContext(await listClusters(table));

export function serviceName(
  service: string,
  namespace: string | undefined,
): Pick<ServiceKey, 'namespace' | 'name'> | undefined {
  if (namespace !== undefined) {
    const [, name] = service.match(/^(?:(?:svc|service|services)\/)?([^/]+)$/) ?? [];
    if (name) return { namespace, name };
  }
  const [, own, name] = service.match(/^([^/]+)\/([^/]+)$/) ?? [];
  if (own === undefined || name === undefined) return undefined;
  if (namespace !== undefined && own !== namespace)
    throw new UsageError(`${service} with -n ${namespace}: one namespace is needed`);
  return { namespace: own, name };
}
