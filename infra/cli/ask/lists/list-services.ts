/** The services of a cluster, and who writes the endpoints of each. */

import { writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { Service } from '#shared/kube/types.ts';
import { namespacesInRange } from '#shared/store/inputs/namespaces.ts';
import { objectsIn } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  /** Who writes its endpoints, in a few words. */
  readonly writer: string;
  /** Why, in a sentence. */
  readonly why: string;
}

/** Every service that the cluster has, by namespace and name. */
export async function listServices(table: Table, id: string): Promise<readonly ServiceName[]> {
  const cluster = await readCluster(table, id);
  if (!cluster) return [];
  return (await readServices(table, id)).map((service) => {
    const { name, why } = writerFacts(service, cluster);
    return {
      namespace: service.metadata.namespace ?? '',
      name: service.metadata.name,
      type: typeOf(service),
      writer: name,
      why,
    };
  });
}

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
