/**
 * `fleet-endpoints cluster opt-in CLUSTER`: each Service that has the annotation, or slices of the hub that
 * nobody follows, who writes it, and what would be written or still differs.
 */

import { shownDifferences } from '#infra/cli/ask/explain/shown-differences.ts';
import { writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import { counted } from '#infra/cli/terminal/counted.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationSelector, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { hasOptInSlices, keyOf, optInSlices, servicesWhere } from './opt-in-slices.ts';

export async function optInLines(table: Table, cluster: ClusterRecord): Promise<readonly string[]> {
  const services = await readServices(table, cluster.id);
  const isAnnotated = (s: Service): boolean => s.metadata.annotations?.[annotationSelector] !== undefined;
  const annotated = services.filter(isAnnotated);
  // The outputs of every Service are read only if the relay has seen slices of one without the annotation.
  const { stray = 0 } = cluster.relay.annotated ?? {};
  const others =
    stray > 0
      ? await servicesWhere(services, async (s) => !isAnnotated(s) && hasOptInSlices(table, cluster.id, s))
      : [];
  const heading = `${cluster.id}  opt-in ${cluster.optIn}, mode ${cluster.mode}: ${counted(annotated.length, 'Service')} with the annotation ${annotationSelector}`;
  const each = await concurrently(16, [...annotated, ...others], (service) =>
    linesOf(table, cluster, service),
  );
  return [heading, ...each.flat(), ...(stray > 0 ? [strayLine(stray)] : [])];
}

const strayLine = (stray: number): string =>
  `  ${counted(stray, 'Service')} that ${stray === 1 ? 'does' : 'do'} not opt in ${stray === 1 ? 'has' : 'have'} slices of the hub: kubectl get endpointslices -A -l ${labelSliceManagedBy}=${optInManagedBy}`;

async function linesOf(table: Table, cluster: ClusterRecord, service: Service): Promise<readonly string[]> {
  const { namespace, name } = service.metadata;
  const { lines, title } = shownDifferences(
    service,
    cluster,
    await readDifference(table, keyOf(cluster.id, service)),
  );
  const writer = writerFacts(service, cluster);
  const slices = writerOf(service).by === 'opt-in' ? [] : await optInSlices(table, cluster.id, service);
  return [
    `  ${namespace}/${name}  ${writer.name}`,
    `      ${writer.why}`,
    ...(slices.length > 0
      ? [
          `      ${counted(slices.length, 'slice')} of the hub with ${addressesServed(slices).length} ready addresses, which follow no pods`,
        ]
      : []),
    ...(lines.length > 0 ? [`      ${title}:`, ...lines.map((line) => `        ${line}`)] : []),
  ];
}
