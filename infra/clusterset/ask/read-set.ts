/** All that `explain` needs to know of a name that clusters of a set export, read from their snapshots. */

import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { type ExportedService, settledWinner } from '#shared/clusterset/exports/precedence.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { zonesOf } from '#shared/clusterset/imports/import-hints.ts';
import { localityOfExport } from '#shared/clusterset/imports/locality.ts';
import { listImporters, membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { readSetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import { readImportReport } from '#shared/clusterset/store/import-report.ts';
import { concurrently } from '#shared/concurrently.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { InputKind, ObjectOfKind } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { decodeObjectOf, objectsIn, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import type { ImporterInput, SetInput, SourceInput } from './explain/set-input.ts';

/** Undefined: the cluster takes no part, and has neither an export nor an import of the name. */
export async function readSet(
  table: Table,
  cluster: ClusterRecord,
  { namespace, name }: ServiceKey,
  now: number,
): Promise<SetInput | undefined> {
  const own = <K extends InputKind>(kind: K, of: string): Promise<ObjectOfKind[K] | undefined> =>
    objectOf({ table, cluster: cluster.id }, kind, namespace, of);
  const [serviceExport, serviceImport] = await Promise.all([
    own('ServiceExport', name),
    own('ServiceImport', name),
  ]);
  if (!serviceExport && !serviceImport && membershipOf(cluster).imports === 'off') return undefined;
  const { set } = membershipOf(cluster);
  const [service, derived, work, entries, listed] = await Promise.all([
    own('Service', name),
    own('Service', derivedName(namespace, name)),
    readWork(table, { cluster: cluster.id, namespace, kind: 'export', name }),
    readSetEntries(table, { set, namespace, name }),
    listImporters(table),
  ]);
  const publishedExports = [...entries.exportTexts.values()].map(
    (text) => JSON.parse(text) as ExportedService,
  );
  const zones = publishedExports.some((f) => localityOfExport(f.locality, f.spec.trafficDistribution))
    ? await readZones(table, cluster.id)
    : [];
  const sources = await concurrently(8, [...entries.exportTexts.keys()], (id) =>
    readSource(table, id, { namespace, name }),
  );
  // The cluster itself may have an import that it took before.
  const importing = [...new Set([...listed, ...(serviceImport ? [cluster.id] : [])])].sort();
  const importers = await concurrently(8, importing, (id) =>
    readImporter(table, id, { set, namespace, name }),
  );
  return {
    cluster,
    namespace,
    name,
    serviceExport,
    service,
    derived,
    zones,
    exportWork: work,
    publishedExports,
    winner: settledWinner(entries.winner, now),
    sources: sources.filter((s) => s !== undefined),
    importers: importers.filter((i) => i !== undefined),
    now,
  };
}

async function readZones(table: Table, cluster: string): Promise<readonly string[]> {
  return zonesOf(await objectsIn({ table, cluster }, 'Node', ''));
}

type NameInNamespace = Pick<ServiceKey, 'namespace' | 'name'>;

async function readSource(
  table: Table,
  cluster: string,
  { namespace, name }: NameInNamespace,
): Promise<SourceInput | undefined> {
  const record = await readCluster(table, cluster);
  if (!record) return undefined;
  const stored = await objectOf({ table, cluster }, 'Service', namespace, name);
  const service = stored && withOptInSelector(stored, record.optIn);
  const selector = service?.spec?.selector;
  if (!service || !selector) return { record, exported: undefined };
  const [pods, nodes] = await Promise.all([
    objectsIn({ table, cluster }, 'Pod', namespace),
    objectsIn({ table, cluster }, 'Node', ''),
  ]);
  return {
    record,
    exported: {
      service,
      pods: pods.filter((pod) => selectorMatches(selector, pod.metadata.labels)),
      nodes: new Map(nodes.map((node) => [node.metadata.name, node] as const)),
    },
  };
}

async function readImporter(
  table: Table,
  cluster: string,
  { set, namespace, name }: NameInNamespace & { readonly set: string },
): Promise<ImporterInput | undefined> {
  const record = await readCluster(table, cluster);
  if (!record || isDeregistered(record) || membershipOf(record).set !== set) return undefined;
  const [found, serviceImport, report, work] = await Promise.all([
    objectOf({ table, cluster }, 'Namespace', '', namespace),
    objectOf({ table, cluster }, 'ServiceImport', namespace, name),
    readImportReport(table, { cluster, namespace, name }),
    readWork(table, { cluster, namespace, kind: 'import', name }),
  ]);
  // A cluster without imports is part of the answer only while a ServiceImport of the name is left in it.
  if (membershipOf(record).imports === 'off' && !serviceImport) return undefined;
  return { record, namespace: found, serviceImport, report, work };
}

async function objectOf<K extends InputKind>(
  store: ClusterStore,
  kind: K,
  namespace: string,
  name: string,
): Promise<ObjectOfKind[K] | undefined> {
  return decodeObjectOf(kind, await readObject(store, kind, namespace, name));
}
