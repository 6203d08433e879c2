/** `fleet-endpoints cluster opt-in CLUSTER`: each Service that has the annotation, who writes it, and what would be written or still differs. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { toldDifferences } from '#shared/explain/told-differences.ts';
import { writerFacts } from '#shared/explain/writer-facts.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { readDifference } from '#shared/store/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { readServices } from './list-services.ts';

export async function optInLines(table: Table, meta: ClusterRecord): Promise<readonly string[]> {
  const annotated = (await readServices(table, meta.id)).filter((s) => s.metadata.annotations?.[annotationSelector] !== undefined);
  const heading = `${meta.id}  opt-in ${meta.optIn}, mode ${meta.mode}: ${annotated.length} services have the annotation ${annotationSelector}`;
  const each = await concurrently(16, annotated, (service) => linesOf(table, meta, service));
  return [heading, ...each.flat()];
}

async function linesOf(table: Table, meta: ClusterRecord, service: Service): Promise<readonly string[]> {
  const { namespace = '', name } = service.metadata;
  const { lines, title } = toldDifferences(service, meta, await readDifference(table, { cluster: meta.id, namespace, name }));
  const writer = writerFacts(service, meta);
  return [
    `  ${namespace}/${name}  ${writer.name}`,
    `      ${writer.why}`,
    ...(lines.length > 0 ? [`      ${title}:`, ...lines.map((line) => `        ${line}`)] : []),
  ];
}
