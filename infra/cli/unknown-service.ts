/** The error for an unknown service, with the names of the known services. */
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { listServices } from './list-services.ts';
import { UsageError } from './usage-error.ts';

export async function unknownService(table: Table, { cluster, namespace, name }: ServiceKey): Promise<UsageError> {
  const services = await listServices(table, cluster);
  const here = services.filter((s) => s.namespace === namespace);
  if (here.length > 0) return new UsageError(`no service ${name} in namespace ${namespace} of ${cluster}: ${thereAre(here.map((s) => s.name))}`);
  const namespaces = [...new Set(services.map((s) => s.namespace))];
  return new UsageError(`no namespace ${namespace} with services in ${cluster}: ${thereAre(namespaces)}`);
}

const shown = 20;

export const listedNames = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : `${names.slice(0, shown).join(', ')}${names.length > shown ? ` and ${names.length - shown} more` : ''}`;

/** Returns `there is a`, `there are a, b` or `there are none`. */
export const thereAre = (names: readonly string[]): string => `there ${names.length === 1 ? 'is' : 'are'} ${listedNames(names)}`;
