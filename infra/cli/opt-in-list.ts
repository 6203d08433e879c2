/** `fleet-endpoints cluster opt-in CLUSTER`: each Service that has the annotation, who writes it, and what would be written or still differs. */

import { toldDifferences } from '#infra/explain/told-differences.ts';
import { writerFacts } from '#infra/explain/writer-facts.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { readDifference } from '#shared/store/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { counted } from './counted.ts';
import { readServices } from './list-services.ts';

export async function optInLines(table: Table, cluster: ClusterRecord): Promise<readonly string[]> {
  const annotated = (await readServices(table, cluster.id)).filter((s) => s.metadata.annotations?.[annotationSelector] !== undefined);
  const heading = `${cluster.id}  opt-in ${cluster.optIn}, mode ${cluster.mode}: ${counted(annotated.length, 'Service')} with the annotation ${annotationSelector}`;
  const each = await concurrently(16, annotated, (service) => linesOf(table, cluster, service));
  return [heading, ...each.flat()];
}

async function linesOf(table: Table, cluster: ClusterRecord, service: Service): Promise<readonly string[]> {
  const { namespace = '', name } = service.metadata;
  const { lines, title } = toldDifferences(service, cluster, await readDifference(table, { cluster: cluster.id, namespace, name }));
  const writer = writerFacts(service, cluster);
  return [
    `  ${namespace}/${name}  ${writer.name}`,
    `      ${writer.why}`,
    ...(lines.length > 0 ? [`      ${title}:`, ...lines.map((line) => `        ${line}`)] : []),
  ];
}
