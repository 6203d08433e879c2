/** The services of a cluster, each with its answer: what `explain` says of it, in a row. */

import { explainService } from '#infra/cli/ask/explain/explain.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { Service } from '#shared/kube/types.ts';
import { namespacesInRange } from '#shared/store/inputs/namespaces.ts';
import { isAlive, readObjects } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { readNodes, readPods, readServiceInput } from '../explain-input.ts';
import { typeOf } from './list-services.ts';
import type { ServiceEntry } from './service-entry.ts';

/** Services by namespace and name, or those of `only` this namespace. `now`: ms, by the hub's clock. */
export async function serviceRows(
  table: Table,
  id: string,
  now: number,
  only?: string,
): Promise<readonly ServiceEntry[]> {
  const cluster = await readCluster(table, id);
  if (!cluster) return [];
  const [nodes, namespaces] = await Promise.all([
    readNodes(table, id),
    only === undefined ? namespacesInRange({ table, cluster: id }, 'Service') : [{ name: only }],
  ]);
  const rows = await concurrently(4, namespaces, async ({ name: namespace }) => {
    const [records, pods] = await Promise.all([
      readObjects({ table, cluster: id }, 'Service', namespace),
      readPods(table, { cluster: id, namespace }),
    ]);
    return concurrently(8, records.filter(isAlive), async (record) =>
      rowOf(
        await readServiceInput(table, {
          ...{ cluster, namespace, name: record.name, record, pods, nodes, now },
        }),
      ),
    );
  });
  return rows.flat();
}

function rowOf(input: ExplainInput): ServiceEntry {
  const { cluster, namespace, name, difference } = input;
  const service = input.service as Service;
  const { answer, health = null, state = null, summary } = explainService(input);
  const { endpoints, slices } = writersFor(service, cluster);
  const { name: writer, why } = writerFacts(service, cluster);
  const data = {
    ...{ namespace, service: name, type: typeOf(service) },
    selected: answer?.live ?? null,
    ready: answer?.reachable ?? null,
    ...{ state, reach: answer?.reach ?? null, causes: answer?.causes ?? [] },
    writers: { endpoints: endpoints.writer, slices: slices.writer },
    differs: isShadow(cluster) && difference?.confirmed === true,
    message: summary,
  };
  return { data, health, writer, why };
}
