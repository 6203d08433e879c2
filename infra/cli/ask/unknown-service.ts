/** The error for an unknown service, with the names of the known services. */

import { thereAre } from '#infra/cli/terminal/counted.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { readCluster } from '#shared/clusters/record.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readServices } from './lists/list-services.ts';
import { askParts } from './wing.ts';

export async function unknownService(
  table: Table,
  { cluster, namespace, name }: ServiceKey,
  now: number,
): Promise<UsageError> {
  const record = await readCluster(table, cluster);
  const known = await Promise.all(
    askParts.map((part) => record && part.unknown(table, record, { cluster, namespace, name }, now)),
  );
  const text = known.find((each) => each !== undefined);
  if (text !== undefined) return new UsageError(text);
  const services = (await readServices(table, cluster)).map(({ metadata }) => metadata);
  const here = services.filter((s) => s.namespace === namespace);
  if (here.length > 0)
    return new UsageError(
      `no service ${name} in namespace ${namespace} of ${cluster}: ${thereAre(here.map((s) => s.name))}`,
    );
  const namespaces = [...new Set(services.map((s) => s.namespace ?? ''))];
  return new UsageError(`no namespace ${namespace} with services in ${cluster}: ${thereAre(namespaces)}`);
}
