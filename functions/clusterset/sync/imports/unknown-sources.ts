/**
 * Clusters that the status of an import names, without an entry in the index of the set. Either they export
 * the name no more, or their exports are unknown, for instance after the loss of the table. The latter count
 * as silent sources: the import, its address and their slices stay as they are.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { validityIn } from '#functions/clusterset/sync/exports/confirmed-validity.ts';
import { withinLimit } from '#functions/clusterset/sync/exports/export-limit.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { checkExport } from '#shared/clusterset/exports/exported-service.ts';
import { keptMerge } from '#shared/clusterset/exports/kept-merge.ts';
import { isOurImport } from '#shared/clusterset/imports/import-ownership.ts';
import type { ImportSource } from '#shared/clusterset/imports/imported-slices.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { exportsKnowledge } from '#shared/clusterset/membership/exports-knowledge.ts';
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import { fieldManagerOf } from '#shared/kube/names.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import type { Sources } from './import-sources.ts';
import type { Imported } from './imported.ts';

/** Returns `read` itself if the hub knows the exports of every cluster that the import names. */
export async function withUnknownSources(
  run: ClustersetRun,
  read: Sources,
  { current, derived }: Imported,
): Promise<Sources> {
  const { set } = membershipOf(run.cluster);
  if (!current || !isOurImport(current, set, { derived, writtenBy: fieldManagerOf(run.cluster.writer) }))
    return read;
  const named = (current.status?.clusters ?? [])
    .map(({ cluster }) => cluster)
    .filter((cluster) => !read.entries.exportTexts.has(cluster));
  const isUnknown = await concurrently(8, named, (cluster) => isUnknownIn(run, cluster));
  const unknown = named.filter((_, i) => isUnknown[i]);
  if (unknown.length === 0) return read;
  run.found.unknown = unknown;
  run.deps.metrics.put('SourcesUnknown', unknown.length, { cluster: run.cluster.id });
  const silent = unknown.map((cluster): ImportSource => ({ cluster, state: 'silent', podCidrs: undefined }));
  return {
    ...read,
    merged: keptMerge(read.merged, { current, derived, unknown }),
    sources: [...read.sources, ...silent],
  };
}

async function isUnknownIn({ deps, cluster, namespace, name }: ClustersetRun, id: string): Promise<boolean> {
  const record = await readCluster(deps.table, id);
  const knowledge = exportsKnowledge(record, membershipOf(cluster).set);
  if (!record || knowledge !== 'known') return knowledge === 'unknown';
  const store = { table: deps.table, cluster: id };
  const [exported, service] = await allToEnd([
    readObject(store, 'ServiceExport', namespace, name),
    readObject(store, 'Service', namespace, name),
  ]);
  const serviceExport = decodeObjectOf('ServiceExport', exported);
  if (!serviceExport) return false;
  const validity = validityIn(record, serviceExport, decodeObjectOf('Service', service));
  // The last valid selector is lost with the entry.
  if (!validity.valid) return validity.keeps !== undefined;
  // The run that saves the entry is still to come, unless the exports of the namespace are too many.
  return (
    checkExport(id, serviceExport, await withinLimit({ deps, cluster: record, namespace, name }, validity))
      .exported !== undefined
  );
}
