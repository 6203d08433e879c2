/** The services of a cluster with their writers and the state of their pods. */

import { writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { concurrently } from '#shared/concurrently.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { findPort, isPodReady, isPodTerminal } from '#shared/kube/pods.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { objectsIn } from '#shared/store/inputs/objects.ts';
import { listDifferences } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { readServices, typeOf } from './list-services.ts';
import type { ServiceEntry } from './service-entry.ts';

/**
 * Services by namespace and name, of one namespace if it is given. Reads the pods of each namespace with a
 * Service.
 */
export async function serviceRows(table: Table, id: string, only?: string): Promise<readonly ServiceEntry[]> {
  const cluster = await readCluster(table, id);
  if (!cluster) return [];
  const read =
    only === undefined
      ? await readServices(table, id)
      : await objectsIn({ table, cluster: id }, 'Service', only);
  const differing = new Set(await listDifferences(table, id));
  const byNamespace = Map.groupBy(read, (service) => service.metadata.namespace ?? '');
  const rows = await concurrently(4, [...byNamespace], async ([namespace, services]) => {
    const pods = await objectsIn({ table, cluster: id }, 'Pod', namespace);
    return services.map((service): ServiceEntry => {
      const { name: writer, why } = writerFacts(service, cluster);
      const { endpoints, slices } = writersFor(service, cluster);
      const writers = { endpoints: endpoints.writer, slices: slices.writer };
      const { name } = service.metadata;
      const differs = isShadow(cluster) && differing.has(`${namespace}/${name}`);
      return {
        namespace,
        name,
        type: typeOf(service),
        writer,
        why,
        writers,
        differs,
        ...podCounts(service, pods),
      };
    });
  });
  return rows.flat();
}

/** DNS alone answers for a headless Service, and it needs no port. */
const hasPort = ({ spec = {} }: Service, pod: Pod): boolean =>
  spec.clusterIP === 'None' || (spec.ports ?? []).some((port) => findPort(pod, port) !== undefined);

/** Counts by the Ready condition. A pod that is being deleted, or has run to its end, is not counted. */
export function podCounts(service: Service, pods: readonly Pod[]): Pick<ServiceEntry, 'selected' | 'ready'> {
  const { spec } = withOptInSelector(service, 'active');
  if (!spec?.selector || spec.type === 'ExternalName') return { selected: 0, ready: 0 };
  const selected = pods.filter(
    (p) =>
      !p.metadata.deletionTimestamp && !isPodTerminal(p) && selectorMatches(spec.selector, p.metadata.labels),
  );
  return {
    selected: selected.length,
    ready: selected.filter((p) => (spec.publishNotReadyAddresses || isPodReady(p)) && hasPort(service, p))
      .length,
  };
}
