/** The inputs of a run. Every read is strongly consistent; prefetch.ts decides when it begins. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { type Writers, writersFor } from '#shared/clusters/writer/writer-for.ts';
import { zonesAway } from '#shared/clusters/zones-away.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { withAnnotatedSelector, withOptInSelectorFor } from '#shared/controllers/opt-in/writer.ts';
import type { HintsRecord } from '#shared/controllers/slices/plan.ts';
import type { ProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import { type Selector, selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Endpoints, Node, Pod, Service } from '#shared/kube/types.ts';
import { PodsTooLarge } from '#shared/store/inputs/namespace-pods.ts';
import { decodeObjectOf, type ObjectRecord, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { OutputDeltas } from '#shared/store/outputs/deltas.ts';
import { newestOutputs } from '#shared/store/outputs/newest-outputs.ts';
import {
  type OutputRecord,
  type OutputSource,
  readBodies,
  readObservedOutputs,
  readOutputs,
  type SavedBodies,
  type SavedOutputs,
  savedOutputs,
} from '#shared/store/outputs/outputs.ts';
import { readCounts, type ServiceCounts } from '#shared/store/outputs/service-counts.ts';
import type { Item } from '#shared/store/table.ts';
import type { StoredTriggers } from '#shared/store/triggers.ts';
import type { SyncDeps } from './deps.ts';
import { admittedScope, nodesOf } from './kept-nodes.ts';

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
  readonly rehearsal?: { readonly service: Service; readonly pods: readonly Pod[] } | undefined;
  readonly nodes: ReadonlyMap<string, Node>;
  /** Names of the zones that traffic is to leave, when the run began. */
  readonly zonesAway: ReadonlySet<string>;
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
  readonly bodies: readonly Item[];
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
    const [bodies, pods] = await allToEnd([readBodies(deps.table, key), readPods(deps, key)]);
    return { scope, bodies, pods };
  } catch (error) {
    // The Service may need no pods. Otherwise the run reads them again.
    if (error instanceof PodsTooLarge) return undefined;
    throw error;
  }
}

export interface InputsToRead {
  readonly cluster: ClusterRecord;
  readonly key: ServiceKey;
  readonly triggers: Promise<StoredTriggers>;
  readonly items: ServiceItems;
  /** The deltas of what sync had written when the lease was taken. */
  readonly deltas: OutputDeltas;
  /**
   * `observed`: compares with the outputs that the relay saw. `written`: writes, from the outputs that sync
   * has saved.
   */
  readonly source: OutputSource;
  readonly prefetched?: PrefetchedInputs | undefined;
}

export async function readInputs(deps: SyncDeps, toRead: InputsToRead): Promise<Inputs> {
  const { cluster, items } = toRead;
  const stored = decodeObjectOf('Service', items.serviceRecord);
  const service = stored && withOptInSelectorFor(stored, cluster);
  const prefetched = countingPrefetch(toRead);
  const [{ outputs, bodies }, triggers, { namespacePods, nodes }, rehearsal] = await allToEnd([
    prefetched ? savedOutputs(prefetched.bodies, toRead.deltas) : savedOn(deps, toRead),
    toRead.triggers,
    selectsPods(service) ? readPodsAndNodes(deps, toRead, prefetched?.pods) : nothingToSelect,
    stored && rehearse(deps, toRead, stored),
  ]);
  return {
    serviceRecord: items.serviceRecord,
    service,
    writers: writersFor(stored, cluster),
    rehearsal,
    pods: selected(namespacePods, service?.spec?.selector ?? {}),
    namespacePods,
    nodes,
    zonesAway: zonesAway(cluster, deps.now()),
    outputs,
    bodies,
    triggers,
    hints: items.counts.hints,
  };
}

const countingPrefetch = ({ source, prefetched, cluster }: InputsToRead): PrefetchedInputs | undefined =>
  source === 'written' && prefetched?.scope === cluster.cacheScope ? prefetched : undefined;

const selectsPods = (service: Service | undefined): boolean =>
  Boolean(service?.spec?.selector) && service?.spec?.type !== 'ExternalName';

type PodsAndNodes = Pick<Inputs, 'namespacePods' | 'nodes'>;
const nothingToSelect: PodsAndNodes = { namespacePods: [], nodes: new Map() };

async function readPodsAndNodes(
  deps: SyncDeps,
  { cluster, key }: InputsToRead,
  prefetched: readonly ProjectedPod[] | undefined,
): Promise<PodsAndNodes> {
  const [namespacePods, { nodes, isCut }] = await allToEnd([
    prefetched ?? readPods(deps, key),
    nodesOf(deps, cluster),
  ]);
  // The slices would lose the pods of the Nodes that were not read.
  if (isCut)
    throw new PodsTooLarge(
      `cluster ${cluster.id} has more Nodes than the ${deps.limits.sync.maxNodes} that a run reads`,
    );
  return { namespacePods, nodes };
}

async function rehearse(
  deps: SyncDeps,
  { cluster, key, source }: InputsToRead,
  stored: Service,
): Promise<Inputs['rehearsal']> {
  if (source !== 'observed' || cluster.optIn === 'off') return undefined;
  const service = withAnnotatedSelector(stored);
  return service && { service, pods: selected(await readPods(deps, key), service.spec?.selector ?? {}) };
}

/** In a cluster that was never switched, the hub has written only slices of Services that opt in. */
async function savedOn(
  { table }: SyncDeps,
  { cluster: { modeSwitch }, key, source, deltas }: InputsToRead,
): Promise<SavedOutputs> {
  if (source === 'written') return savedOutputs(await readBodies(table, key), deltas);
  const [observed, written] = await allToEnd([
    readObservedOutputs(table, key),
    modeSwitch.count > 0 ? readOutputs(table, key, deltas) : [],
  ]);
  const outputs = newestOutputs(observed, written).filter((o) => !isOursByOptIn(o));
  return { outputs, bodies: new Map() };
}

/** Rejects with PodsTooLarge. */
export const readPods = (
  { pods, table, ...deps }: SyncDeps,
  { cluster, namespace }: Omit<ServiceKey, 'name'>,
): Promise<readonly ProjectedPod[]> => pods.podsOf({ table, cluster }, namespace, deps.limits.pods.maxBytes);

export const selected = (pods: readonly ProjectedPod[], selector: Selector): readonly Pod[] =>
  pods.filter(({ labels }) => selectorMatches(selector, labels)).map(({ pod }) => pod);

/** Returns true for an existing slice of a Service that opts in. */
export const isOursByOptIn = ({ kind, object }: OutputRecord): boolean =>
  kind === 'EndpointSlice' && object !== undefined && isOptInSlice(object);

export const endpointsIn = (outputs: readonly OutputRecord[]): Endpoints | undefined =>
  outputs.find((o) => o.kind === 'Endpoints')?.object as Endpoints | undefined;

export const slicesIn = (outputs: readonly OutputRecord[]): readonly EndpointSlice[] =>
  outputs.filter((o) => o.kind === 'EndpointSlice' && o.object).map((o) => o.object as EndpointSlice);
