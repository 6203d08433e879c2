/** The services of a cluster. */
import { concurrently } from '#shared/concurrently.ts';
import type { Service } from '#shared/kube/types.ts';
import { namespacesInRange } from '#shared/store/inputs/namespaces.ts';
import { objectsIn } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';

/** Every service that the cluster has, by namespace and name. */
export async function readServices(table: Table, cluster: string): Promise<readonly Service[]> {
  const namespaces = await namespacesInRange({ table, cluster }, 'Service');
  const perNamespace = await concurrently(16, namespaces, (ns) =>
    objectsIn({ table, cluster }, 'Service', ns.name),
  );
  return perNamespace.flat();
}

/** `headless`, or the type of the Service. */
export function typeOf({ spec = {} }: Service): string {
  if (spec.type === 'ExternalName') return 'ExternalName';
  return spec.clusterIP === 'None' ? 'headless' : (spec.type ?? 'ClusterIP');
}
