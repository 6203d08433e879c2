/**
 * Plans the slices of an import for all sources together, asks the mass-removal guard for each source, and
 * writes the slices (MC-74).
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { guardRemoval } from '#functions/sync/guards/mass-removal-guard.ts';
import { listPods } from '#functions/sync/state/live-pods.ts';
import { requeue } from '#functions/sync/state/requeue.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterState } from '#shared/clusters/record.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import {
  type ImportedSlicesPlan,
  type ImportSource,
  planImportedSlices,
} from '#shared/clusterset/imports/imported-slices.ts';
import { leftOutNotes } from '#shared/clusterset/imports/left-out.ts';
import type { LeftOutReason } from '#shared/clusterset/imports/source-pods.ts';
import { writtenSources } from '#shared/clusterset/imports/written-sources.ts';
import { concurrently } from '#shared/concurrently.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { slicesAfter } from '#shared/controllers/slices/slices-after.ts';
import {
  importsManagedBy,
  labelServiceName,
  labelSliceManagedBy,
  labelSourceCluster,
} from '#shared/kube/names.ts';
import { type Selector, sameSelectors } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { doubtedBefore, reportOf } from './import-report-record.ts';
import { applySlicePlan } from './import-slice-writes.ts';
import type { Sources } from './import-sources.ts';

export interface ImportToWrite extends Pick<Sources, 'sources' | 'importer' | 'memberOf'> {
  readonly merged: MergedExports;
  readonly derived: Service;
  /** As they were before the run wrote the derived Service: those of a former one may be gone since. */
  readonly slices: readonly EndpointSlice[];
}

export async function writeImportedSlices(
  run: ClustersetRun,
  api: ClusterApi,
  to: ImportToWrite,
): Promise<Outcome> {
  const { merged, derived, sources, importer, memberOf, slices } = to;
  const { deps, cluster, name } = run;
  const { maxEndpointsPerSlice } = cluster.settings;
  const planWith: PlanWith = (accepted) =>
    planImportedSlices({ name, derived, merged, sources: accepted, importer, slices, maxEndpointsPerSlice });
  const plan = planWith(sources);
  const before = await doubtedBefore(run);
  const confirmed = await concurrently(8, sources, (source) =>
    confirmedSource(run, source, {
      sources,
      slices,
      planWith,
      plan,
      cluster: memberOf.get(source.cluster),
      isAgain: before.includes(source.cluster),
    }),
  );
  const doubted = confirmed.filter((source, i) => source !== sources[i]).map(({ cluster }) => cluster);
  const isDoubtful = doubted.length > 0;
  const final = isDoubtful ? planWith(confirmed) : plan;
  const { refused, left } = await applySlicePlan(run, api, final, slices);
  run.refusals.push(...[...refused].map(([cluster, { message }]) => `slices of ${cluster}: ${message}`));
  Object.assign(run.found, reportOf(final), { written: writtenSources(left) }, isDoubtful && { doubted });
  run.notes.push(...leftOutNotes(final));
  countLeftOut(run, final);
  // The doubted removal is tried again until the snapshot has caught up.
  if (isDoubtful) return requeue(deps, 'endpointsKept', { reason: 'snapshot differs from the cluster' });
  if (plan.held.length === 0) return ok;
  deps.metrics.put('EvictionsHeld', plan.held.length, { cluster: cluster.id });
  return requeue(deps, 'endpointsKept', {
    reason: `other sources are not ready for each of its ports: slices of ${plan.held.join(', ')} stay`,
    rounds: run.claim.message.requeues,
  });
}

function countLeftOut({ deps, cluster }: ClustersetRun, { leftOut }: ImportedSlicesPlan): void {
  const count = (kind: LeftOutReason['kind']): number =>
    leftOut.filter(({ reason }) => reason.kind === kind).length;
  const [collisions, outside] = [count('collision'), count('outside-cidrs')];
  if (collisions > 0) deps.metrics.put('AddressCollisions', collisions, { cluster: cluster.id });
  if (outside > 0) deps.metrics.put('AddressesOutside', outside, { cluster: cluster.id });
}

/**
 * Resolves to the hub's own slices. Proxies use those of other controllers too, for instance of a time when
 * the derived Service had a selector.
 */
export async function listImportedSlices(
  { namespace, name, notes }: ClustersetRun,
  api: ClusterApi,
): Promise<readonly EndpointSlice[]> {
  const { items } = await api.list('EndpointSlice', namespace, {
    labels: { [labelServiceName]: derivedName(namespace, name) },
  });
  const own = items.filter(({ metadata }) => metadata.labels?.[labelSliceManagedBy] === importsManagedBy);
  const others = items.filter(
    (slice) =>
      !own.includes(slice) && !slice.metadata.deletionTimestamp && (slice.endpoints ?? []).length > 0,
  );
  if (others.length > 0)
    notes.push(
      `slices that are not the hub's are served too: ${others.map((slice) => slice.metadata.name).join(', ')}`,
    );
  return own;
}

type PlanWith = (sources: readonly ImportSource[]) => ImportedSlicesPlan;

const ofSource = (slices: readonly EndpointSlice[], cluster: string): readonly EndpointSlice[] =>
  slices.filter((s) => s.metadata.labels?.[labelSourceCluster] === cluster);

/** By family and address, one for each endpoint. */
const addressesIn = (
  slices: readonly Pick<EndpointSlice, 'addressType' | 'endpoints'>[],
): readonly string[] =>
  slices.flatMap((s) => (s.endpoints ?? []).map(({ addresses }) => `${s.addressType} ${addresses[0] ?? ''}`));

interface ToConfirm {
  readonly sources: readonly ImportSource[];
  readonly slices: readonly EndpointSlice[];
  readonly planWith: PlanWith;
  /** With the source as it is. */
  readonly plan: ImportedSlicesPlan;
  readonly cluster: ClusterState | undefined;
  /** The run before doubted the source. */
  readonly isAgain: boolean;
}

/**
 * Returns the source as the run may use it by the mass-removal guard: with the pods of its own API if these
 * leave more endpoints, and as a silent one, whose slices stay, if its API cannot be asked.
 */
async function confirmedSource(
  run: ClustersetRun,
  source: ImportSource,
  to: ToConfirm,
): Promise<ImportSource> {
  const { cluster, sources, slices, planWith, plan, isAgain } = to;
  const { exported, ...rest } = source;
  const own = ofSource(slices, source.cluster);
  const left = ({ plans }: ImportedSlicesPlan): readonly string[] => {
    const planned = plans.get(source.cluster);
    return addressesIn(planned ? slicesAfter(own, planned) : own);
  };
  const withPods = (pods: readonly Pod[]): ImportSource =>
    exported ? { ...source, exported: { ...exported, pods } } : source;
  const verdict = await guardRemoval(run.deps, {
    cluster: source.cluster,
    before: addressesIn(own),
    left: left(plan),
    leftBy: (pods) => left(planWith(sources.map((s) => (s === source ? withPods(pods) : s)))),
    isAgain,
    ask: async () => cluster && exported && livePods(run, cluster, exported.service),
  });
  if (verdict.kind === 'not-answered') return { ...rest, state: 'silent' };
  return verdict.kind === 'differs' ? withPods(verdict.pods) : source;
}

/**
 * Lists the pods by the cluster's own API. Resolves to undefined if it does not answer, or if the Service has
 * another selector than the export. A Service that is gone, or without a valid selector, does not contradict
 * the export, which follows the last valid one. The slices of the other sources wait for the answer: the
 * first call is short. Stores nothing: the relay's next events count again.
 */
async function livePods(
  run: ClustersetRun,
  { id }: ClusterState,
  { spec }: Service,
): Promise<readonly Pod[] | undefined> {
  try {
    const live = await (await run.apiOf(id, 'brief')).get('Service', run.namespace, run.name);
    const selector = live && selectorOf(live);
    if (selector && !sameSelectors(selector, spec?.selector)) return undefined;
    return spec?.selector ? await listPods(await run.apiOf(id, 'call'), run.namespace, spec.selector) : [];
  } catch (error) {
    run.deps.log.warn('source cluster cannot be asked: its slices stay', {
      cluster: id,
      error: String(error),
    });
    return undefined;
  }
}

const selectorOf = (service: Service): Selector | undefined =>
  service.metadata.deletionTimestamp || service.spec?.type === 'ExternalName'
    ? undefined
    : withOptInSelector(service, 'active').spec?.selector;
