/**
 * Plans the writes of an import's slices in one cluster, for each source (MC-20, MC-64, MC-70, MC-72, MC-81).
 */

import type { ExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { exposedPorts } from '#shared/clusterset/exports/merge-ports.ts';
import type { SliceDraft, SlicesPlan } from '#shared/controllers/slices/plan.ts';
import { portsByPod } from '#shared/controllers/slices/ports.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { Cidr } from '#shared/kube/cidr.ts';
import { canonicalIP } from '#shared/kube/ip.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { labelMcsService, labelSourceCluster } from '#shared/kube/names.ts';
import { isInZones } from '#shared/kube/nodes.ts';
import { isServing } from '#shared/kube/pods.ts';
import type { EndpointSlice, Node, Pod, Service, SlicePort } from '#shared/kube/types.ts';
import { hintImport, type ImportHints } from './import-hints.ts';
import { copiesFor } from './kept-slices.ts';
import type { Importer } from './locality-hints.ts';
import { planSourceSlices } from './source-endpoints.ts';
import { choosePods, type KeptSlice, type LeftOut, type SourcePods } from './source-pods.ts';
import { evictable, type SourceState } from './source-state.ts';

export interface ImportSource {
  readonly cluster: string;
  readonly state: SourceState;
  /**
   * Undefined: not read, so the slices stay. The pods of a silent source count in a cluster without its
   * slices alone.
   */
  readonly exported?: ExportedPods;
  readonly podCidrs: readonly Cidr[] | undefined;
  /** Names of its zones that traffic is to leave. */
  readonly zonesAway?: ReadonlySet<string>;
}

export interface ToImport {
  /** The name of the exports and of the ServiceImport. */
  readonly name: string;
  readonly derived: Service;
  readonly merged: MergedExports;
  /** One for each cluster of the merge. */
  readonly sources: readonly ImportSource[];
  readonly importer: Importer;
  /** Every slice of the derived Service with our managed-by for imports, as the API server holds them. */
  readonly slices: readonly EndpointSlice[];
  readonly maxEndpointsPerSlice: number;
}

export interface ImportedSlicesPlan {
  /** The plan of each source that is read. */
  readonly plans: ReadonlyMap<string, SlicesPlan>;
  /** Slices of sources that export no more or are evicted: to be deleted after the others are written. */
  readonly withdrawn: readonly EndpointSlice[];
  /** By silent or held source: copies, to be created, of slices that a former derived Service owns. */
  readonly copies: ReadonlyMap<string, readonly SliceDraft[]>;
  /** Sources that would be evicted, but other sources are not ready for each port that they serve. */
  readonly held: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** Why endpoints have the hints that they have. */
  readonly hinted: ImportHints['why'];
}

export function planImportedSlices({
  name,
  derived,
  merged,
  sources,
  importer,
  slices,
  maxEndpointsPerSlice,
}: ToImport): ImportedSlicesPlan {
  const labelsOf = (cluster: string): Labels => ({ [labelMcsService]: name, [labelSourceCluster]: cluster });
  const bySource = Map.groupBy(slices, (slice) => slice.metadata.labels?.[labelSourceCluster] ?? '');
  const ordered = merged.clusters.flatMap((cluster) => sources.find((s) => s.cluster === cluster) ?? []);
  // Slices of a silent source stay as they are. Without any, its last known pods are better than none.
  const isPlanned = ({ cluster, state }: ImportSource): boolean =>
    state === 'fresh' || (state === 'silent' && !bySource.has(cluster));
  const read = ordered.filter((s) => s.exported !== undefined && isPlanned(s));
  const keptOf = (states: readonly ImportSource[]): readonly KeptSlice[] =>
    states.flatMap(({ cluster }) => (bySource.get(cluster) ?? []).map((slice) => ({ cluster, slice })));
  const others = ordered.filter((s) => !read.includes(s));
  const offered = leavingZones(
    read.map((source) => offeredBy(source, merged)),
    { read, kept: keptOf(others.filter((s) => s.state !== 'evicted')), derived },
  );
  // An evicted source keeps no address from the one that is to take its traffic.
  const withoutEvicted = choosePods(offered, keptOf(others.filter((s) => s.state !== 'evicted')));
  const servedBy = ({ cluster, state }: ImportSource): ReadonlySet<string> => {
    const source = offered.find((o) => o.cluster === cluster);
    return state === 'fresh' && source
      ? servedByPods(source.service, withoutEvicted.pods.get(cluster) ?? [], derived)
      : servedBySlices(bySource.get(cluster) ?? [], derived);
  };
  const gone = evictable(
    ordered.map((source) => ({ cluster: source.cluster, state: source.state, serves: servedBy(source) })),
  );
  const staying = others.filter((s) => !gone.includes(s.cluster));
  const kept = keptOf(staying);
  const copies = new Map(
    staying.map(({ cluster }) => [
      cluster,
      copiesFor(derived, labelsOf(cluster), bySource.get(cluster) ?? []),
    ]),
  );
  const { pods, leftOut } = choosePods(offered, kept);
  const given = offered.map(({ cluster, service }, i) => ({
    cluster,
    service,
    pods: pods.get(cluster) ?? [],
    nodes: read[i]?.exported?.nodes ?? new Map<string, Node>(),
  }));
  const { hintsOf, why } = hintImport({ merged, importer, families: addressTypesOf(derived), given, kept });

  // Only then kube-proxy goes by the node. The policies of an older manifest refuse its name, and would keep
  // slices of other imports as they are.
  const isLocal = merged.spec.internalTrafficPolicy === 'Local';
  const known = new Set(ordered.map((s) => s.cluster));
  const withdrawn = [...bySource]
    .filter(([cluster]) => !known.has(cluster) || gone.includes(cluster))
    .flatMap(([, own]) => own);
  const plans = given.map(({ cluster, service, pods, nodes }) => {
    const plan = planSourceSlices({
      service,
      pods,
      nodes,
      derived,
      slices: bySource.get(cluster) ?? [],
      labels: labelsOf(cluster),
      namesNodes: isLocal && cluster === importer.cluster,
      hintsOf,
      maxEndpointsPerSlice,
    });
    return [cluster, plan] as const;
  });
  const held = ordered
    .filter((s) => s.state === 'evicted' && !gone.includes(s.cluster))
    .map((s) => s.cluster);
  return {
    plans: new Map(plans),
    withdrawn: withdrawn.filter((s) => !s.metadata.deletionTimestamp),
    copies,
    held,
    leftOut,
    hinted: why,
  };
}

/**
 * Returns the part of the export that the import exposes. An export whose ports all conflict has no
 * endpoints.
 */
function offeredBy({ cluster, exported, podCidrs }: ImportSource, merged: MergedExports): SourcePods {
  const { service, pods } = exported as NonNullable<ImportSource['exported']>;
  const own = service.spec?.ports ?? [];
  const ports = exposedPorts(own, merged.spec.ports);
  const exposed = { ...service, spec: { ...service.spec, ports } };
  return { cluster, service: exposed, pods: own.length > 0 && ports.length === 0 ? [] : pods, podCidrs };
}

interface InZones {
  /** In the order of the offers. */
  readonly read: readonly ImportSource[];
  readonly kept: readonly KeptSlice[];
  readonly derived: Service;
}

/**
 * The offers without the pods of zones that are away in their own clusters, if what is left of all sources
 * serves each port and family that all pods serve, and otherwise whole.
 */
function leavingZones(
  offered: readonly SourcePods[],
  { read, kept, derived }: InZones,
): readonly SourcePods[] {
  const staying = offered.map((offer, i) => {
    const { exported, zonesAway = new Set() } = read[i] as ImportSource;
    const isAway = ({ spec }: Pod): boolean =>
      isInZones(exported?.nodes.get(spec?.nodeName ?? ''), zonesAway);
    return { ...offer, pods: offer.pods.filter((pod) => !isAway(pod)) };
  });
  if (staying.every(({ pods }, i) => pods.length === offered[i]?.pods.length)) return offered;
  const servedBy = (offers: readonly SourcePods[]): ReadonlySet<string> => {
    const { pods } = choosePods(offers, kept);
    return new Set(
      offers.flatMap(({ cluster, service }) => [...servedByPods(service, pods.get(cluster) ?? [], derived)]),
    );
  };
  const left = servedBy(staying);
  return left.size > 0 && [...servedBy(offered)].every((port) => left.has(port)) ? staying : offered;
}

/** The ports of each family for which the pods have a ready endpoint, as `servedBySlices` names them. */
function servedByPods(exposed: Service, pods: readonly Pod[], derived: Service): ReadonlySet<string> {
  const types = addressTypesOf(derived);
  const portsOf = portsByPod(exposed);
  return new Set(
    pods.filter(isServing).flatMap((pod) => {
      const families = (pod.status?.podIPs ?? []).flatMap(
        ({ ip }) => types.find((type) => type === canonicalIP(ip)?.family) ?? [],
      );
      return families.flatMap((family) => portTexts(family, portsOf(pod).ports));
    }),
  );
}

/** The ports of each family for which the slices have an endpoint, ready or not. */
function servedBySlices(slices: readonly EndpointSlice[], derived: Service): ReadonlySet<string> {
  const types: readonly string[] = addressTypesOf(derived);
  const serving = slices.filter(
    ({ addressType, endpoints }) => types.includes(addressType) && (endpoints ?? []).length > 0,
  );
  return new Set(serving.flatMap(({ addressType, ports }) => portTexts(addressType, ports ?? [])));
}

/** Clients know a port of the import by name and protocol. Its number may be another one in each cluster. */
const portTexts = (family: string, ports: readonly SlicePort[]): readonly string[] =>
  ports.length === 0
    ? [family]
    : ports.map(({ name = '', protocol = 'TCP' }) => `${family} ${name}/${protocol}`);
