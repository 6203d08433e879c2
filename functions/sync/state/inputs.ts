/** The inputs of a run. Every read is strongly consistent; prefetch.ts decides when it begins. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { type Writers, writersFor } from '#shared/clusters/writer/writer-for.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { withAnnotatedSelector, withOptInSelectorFor } from '#shared/controllers/opt-in/writer.ts';
import type { HintsRecord } from '#shared/controllers/slices/plan.ts';
import type { ProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import { type Selector, selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Endpoints, Node, Pod, Service } from '#shared/kube/types.ts';
import { PodsTooLarge } from '#shared/store/inputs/namespace-pods.ts';
import {
  decodeObjectOf,
  isAlive,
  type ObjectRecord,
  objectPages,
  readObject,
} from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import {
  type OutputRecord,
  type OutputSource,
  readOutputs,
  readSaved,
  type SavedBodies,
  type SavedOutputs,
} from '#shared/store/outputs/outputs.ts';
import { readCounts, type ServiceCounts } from '#shared/store/outputs/service-counts.ts';
import type { StoredTriggers } from '#shared/store/triggers.ts';
import type { KeptNodes, NodesRead, SyncDeps } from './deps.ts';

export interface Inputs {
  readonly serviceRecord: ObjectRecord | undefined;
  /** With the selector of its annotation, if it opts in. */
  readonly service: Service | undefined;
  readonly writers: Writers;
  /** The pods that the service selects. */
  readonly pods: readonly Pod[];
  /**
   * The Pods of the namespace; empty for a service without a selector. The history uses them to explain why a
   * Pod is no longer selected.
   */
  readonly namespacePods: readonly ProjectedPod[];
  /**
   * For a Service with a selector and a different annotated one: the Service and its pods as they would be
   * without the selector.
   */
  readonly rehearsal?: { readonly service: Service; readonly pods: readonly Pod[] };
  readonly nodes: ReadonlyMap<string, Node>;
  readonly outputs: readonly OutputRecord[];
  /** The next save makes its deltas against these. */
  readonly bodies: SavedBodies;
  readonly triggers: StoredTriggers;
  readonly hints: HintsRecord | undefined;
}

/** The records of a service that are one item each. */
export interface ServiceItems {
  readonly serviceRecord: ObjectRecord | undefined;
  readonly counts: ServiceCounts;
}

export async function readServiceItems({ table }: SyncDeps, key: ServiceKey): Promise<ServiceItems> {
  const [serviceRecord, counts] = await allToEnd([
    readObject({ table, cluster: key.cluster }, 'Service', key.namespace, key.name),
    readCounts(table, key),
  ]);
  return { serviceRecord, counts };
}

/** Inputs that were read at the same time as the cluster's record. */
export interface PrefetchedInputs {
  /** `ClusterRecord.cacheScope` that is expected: with another one none of it counts. */
  readonly scope: string;
  readonly saved: SavedOutputs;
  readonly pods: readonly ProjectedPod[];
}

/**
 * Reads inputs at the same time as the cluster's record. They count only if this worker found the first lists
 * complete before, in the same incarnation. Otherwise they may be older than the first lists, and it resolves
 * to undefined.
 */
export async function prefetchInputs(deps: SyncDeps, key: ServiceKey): Promise<PrefetchedInputs | undefined> {
  const scope = admittedScope(deps, key.cluster);
  if (scope === undefined) return undefined;
  try {
    const [saved, pods] = await allToEnd([readSaved(deps.table, key), readPods(deps, key)]);
    return { scope, saved, pods };
  } catch (error) {
    // The Service may need no pods. Otherwise the run reads them again.
    if (error instanceof PodsTooLarge) return undefined;
    throw error;
  }
}

/** The nodes of a cluster are kept by runs that it has admitted. */
export const admittedScope = (deps: SyncDeps, cluster: string): string | undefined =>
  deps.nodes.get(cluster)?.scope;

export interface InputsToRead {
  readonly cluster: ClusterRecord;
  readonly key: ServiceKey;
  readonly triggers: Promise<StoredTriggers>;
  readonly items: ServiceItems;
  /**
   * `observed`: compares with the outputs that the relay saw. `written`: writes, from the outputs that sync
   * has saved.
   */
  readonly source: OutputSource;
  readonly prefetched?: PrefetchedInputs | undefined;
}

export async function readInputs(
  deps: SyncDeps,
  { cluster, key, triggers: storedTriggers, items, source, ...known }: InputsToRead,
): Promise<Inputs> {
  const { serviceRecord, counts } = items;
  const stored = decodeObjectOf('Service', serviceRecord);
  const service = stored && withOptInSelectorFor(stored, cluster);
  const selects = service?.spec?.selector && service.spec.type !== 'ExternalName';
  const selector = service?.spec?.selector ?? {};
  const rehearsal =
    source === 'observed' && stored && cluster.optIn !== 'off' ? withAnnotatedSelector(stored) : undefined;
  const prefetched =
    source === 'written' && known.prefetched?.scope === cluster.cacheScope ? known.prefetched : undefined;
  const [{ outputs, bodies }, triggers, namespacePods, nodes, rehearsedPods] = await allToEnd([
    prefetched?.saved ?? savedOn(deps, key, source),
    storedTriggers,
    selects ? (prefetched?.pods ?? readPods(deps, key)) : [],
    selects ? nodesOf(deps, cluster) : { nodes: new Map<string, Node>(), isCut: false },
    rehearsal ? readPods(deps, key) : [],
  ]);
  // The slices would lose the pods of the Nodes that were not read.
  if (nodes.isCut)
    throw new PodsTooLarge(
      `cluster ${cluster.id} has more Nodes than the ${deps.limits.sync.maxNodes} that a run reads`,
    );
  return {
    serviceRecord,
    service,
    writers: writersFor(stored, cluster),
    ...(rehearsal && {
      rehearsal: { service: rehearsal, pods: selected(rehearsedPods, rehearsal.spec?.selector ?? {}) },
    }),
    pods: selected(namespacePods, selector),
    namespacePods,
    nodes: nodes.nodes,
    outputs,
    bodies,
    triggers,
    hints: counts.hints,
  };
}

/**
 * The outputs of a source. After a switch from active to shadow these are the relay's last full outputs, or
 * else the hub's last writes.
 */
async function savedOn(deps: SyncDeps, key: ServiceKey, source: OutputSource): Promise<SavedOutputs> {
  const saved = await readSaved(deps.table, key, source);
  if (saved.outputs.length > 0 || source !== 'observed') return saved;
  return {
    ...saved,
    outputs: (await readOutputs(deps.table, key, 'written')).filter((o) => !isOursByOptIn(o)),
  };
}

/** Rejects with PodsTooLarge. */
export const readPods = (
  { pods, table, ...deps }: SyncDeps,
  { cluster, namespace }: Omit<ServiceKey, 'name'>,
): Promise<readonly ProjectedPod[]> => pods.podsOf({ table, cluster }, namespace, deps.limits.pods.maxBytes);

export const selected = (pods: readonly ProjectedPod[], selector: Selector): readonly Pod[] =>
  pods.filter(({ labels }) => selectorMatches(selector, labels)).map(({ pod }) => pod);

/**
 * The version is in the cluster's record, which is read before. It rises after each write of a node, so nodes
 * whose read began at this version are never older. Runs at the same version or an older one share a read:
 * all Nodes of a cluster are in one partition, and a change of one Node concerns every service of a batch.
 */
export async function nodesOf(deps: SyncDeps, cluster: ClusterRecord): Promise<NodesRead> {
  const kept = deps.nodes.get(cluster.id);
  if (kept && kept.version >= cluster.nodesVersion && kept.scope === cluster.cacheScope) return kept.read;
  const begun: KeptNodes = {
    scope: cluster.cacheScope,
    version: cluster.nodesVersion,
    read: readNodes(deps, cluster.id),
    count: 0,
  };
  deps.nodes.set(cluster.id, begun);
  try {
    const read = await begun.read;
    begun.count = read.nodes.size;
    const size = [...deps.nodes.values()].reduce((sum, { count }) => sum + count, 0);
    if (size > deps.limits.sync.maxNodes)
      for (const [id, other] of deps.nodes) if (other !== begun && other.count > 0) deps.nodes.delete(id);
    return read;
  } catch (error) {
    if (deps.nodes.get(cluster.id) === begun) deps.nodes.delete(cluster.id);
    throw error;
  }
}

async function readNodes({ table, limits }: SyncDeps, cluster: string): Promise<NodesRead> {
  const nodes = new Map<string, Node>();
  for await (const page of objectPages({ table, cluster }, 'Node', '', nodesAtOnce)) {
    for (const r of page)
      if (isAlive(r)) nodes.set(r.name, decodeProjection('Node', '', r.name, r.projection));
    // A relay can make up any number of them.
    if (nodes.size > limits.sync.maxNodes) return { nodes, isCut: true };
  }
  return { nodes, isCut: false };
}

const nodesAtOnce = 1_000;

/** Returns true for an existing slice of a Service that opts in. */
export const isOursByOptIn = ({ kind, object }: OutputRecord): boolean =>
  kind === 'EndpointSlice' && object !== undefined && isOptInSlice(object);

export const endpointsIn = (outputs: readonly OutputRecord[]): Endpoints | undefined =>
  outputs.find((o) => o.kind === 'Endpoints')?.object as Endpoints | undefined;

export const slicesIn = (outputs: readonly OutputRecord[]): readonly EndpointSlice[] =>
  outputs.filter((o) => o.kind === 'EndpointSlice' && o.object).map((o) => o.object as EndpointSlice);
