/**
 * `imports: shadow` (MC-96): what an import would be is computed from the snapshots and saved for explain and
 * console. Its cluster is not asked.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { limited } from '#functions/sync/state/difference-lines.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { isOurImport } from '#shared/clusterset/imports/import-ownership.ts';
import { leftOutText } from '#shared/clusterset/imports/left-out.ts';
import { previewImport } from '#shared/clusterset/imports/preview.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { endpointLines, portsText } from '#shared/kube/listed-endpoints.ts';
import { labelMcsService } from '#shared/kube/names.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import { reportOf } from './import-report-record.ts';
import type { Sources } from './import-sources.ts';

/** `merged` undefined: nothing would be there. */
export async function findPreview(
  run: ClustersetRun,
  { merged, sources, importer }: Pick<Sources, 'merged' | 'sources' | 'importer'>,
): Promise<void> {
  if (!merged) return;
  const { namespace, name, cluster, found } = run;
  const { set } = membershipOf(cluster);
  const { slices, derived } = previewImport({
    namespace,
    name,
    set,
    merged,
    sources,
    importer,
    maxEndpointsPerSlice: cluster.settings.maxEndpointsPerSlice,
  });
  const inTheWay = await standsInTheWay(run);
  const would = inTheWay ? 'would not be written' : 'would be written';
  const endpoints = [...slices.plans].flatMap(([cluster, { addressTypes }]) =>
    addressTypes
      .flatMap((t) => t.create.flatMap(endpointLines))
      .map((text) => `EndpointSlices of ${cluster}: ${would}: ${text}`),
  );
  const preview = limited([
    `ServiceImport ${namespace}/${name}: ${would}: ${merged.spec.type}, ports ${portsText(merged.spec.ports)}, of ${merged.clusters.join(', ')}`,
    `Service ${namespace}/${derived.metadata.name}: ${would}`,
    ...endpoints,
    ...sources
      .filter((s) => !slices.plans.has(s.cluster))
      .map((s) => `EndpointSlices of ${s.cluster}: none would be written while its word does not count`),
    ...slices.leftOut.map((l) => `EndpointSlices of ${l.cluster}: left out: ${leftOutText(l)}`),
  ]);
  Object.assign(found, reportOf(slices), { preview, inTheWay });
}

/**
 * Returns the kind of an object that has one of the two names and is not the hub's, by the snapshot of the
 * cluster.
 */
async function standsInTheWay({
  deps,
  cluster,
  namespace,
  name,
}: ClustersetRun): Promise<'ServiceImport' | 'Service' | undefined> {
  const store = { table: deps.table, cluster: cluster.id };
  const [serviceImport, service] = await allToEnd([
    readObject(store, 'ServiceImport', namespace, name),
    readObject(store, 'Service', namespace, derivedName(namespace, name)),
  ]);
  const existing = decodeObjectOf('ServiceImport', serviceImport);
  if (existing && !isOurImport(existing, membershipOf(cluster).set)) return 'ServiceImport';
  const derived = decodeObjectOf('Service', service);
  return derived && derived.metadata.labels?.[labelMcsService] !== name ? 'Service' : undefined;
}
