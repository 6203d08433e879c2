/** The slices of an import: planned for all sources together, braked for each by itself, and written (MC-74). */
import type { ClusterApi } from '#shared/cluster-api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { type ImportedSlicesPlan, type ImportSource, planImportedSlices } from '#shared/clusterset/imported-slices.ts';
import type { MergedExports } from '#shared/clusterset/merge.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { importsManagedBy, labelServiceName, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import type { SlicesPlan } from '#shared/slices/plan.ts';
import { assignName } from '#shared/slices/slice-name.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { ClustersetRun } from './clusterset-work.ts';
import { reportOf } from './found-report.ts';
import { livePods } from './import-sources.ts';

export interface ToWrite {
  readonly merged: MergedExports;
  readonly sources: readonly ImportSource[];
  readonly metaOf: ReadonlyMap<string, ClusterRecord>;
  readonly derived: Service;
}

export async function writeImportedSlices(run: ClustersetRun, api: ClusterApi, { merged, sources, metaOf, derived }: ToWrite): Promise<Outcome> {
  const { deps, meta, name } = run;
  const labels = { [labelServiceName]: derived.metadata.name, [labelSliceManagedBy]: importsManagedBy };
  const { items: slices } = await api.list('EndpointSlice', run.namespace, { labels });
  const { maxEndpointsPerSlice } = meta.settings;
  const planWith = (of: readonly ImportSource[]): ImportedSlicesPlan =>
    planImportedSlices({ name, derived, merged, sources: of, slices, maxEndpointsPerSlice });
  const plan = planWith(sources);
  const braked = sources.filter((source) => takesMuchAway(run, slices, source, plan));
  const confirmed = await Promise.all(
    sources.map((source) => (braked.includes(source) ? confirmedSource(run, source, metaOf.get(source.cluster)) : source)),
  );
  const final = braked.length > 0 ? planWith(confirmed) : plan;
  await carryOut(run, api, final, slices);
  Object.assign(run.found, reportOf(final));
  const collisions = final.leftOut.filter(({ reason }) => reason.kind === 'collision').length;
  if (collisions > 0) deps.metrics.put('AddressCollisions', collisions, { cluster: meta.id });
  if (plan.leftOut.length > 0)
    deps.log.warn('addresses left out of an import', {
      cluster: meta.id,
      namespace: run.namespace,
      service: name,
      leftOut: plan.leftOut.slice(0, 5),
    });
  // What was not believed is owed until the snapshot has caught up.
  const isDoubtful = confirmed.some((source, i) => source !== sources[i]);
  if (isDoubtful) return { kind: 'postponed', reason: 'snapshot differs from the cluster', waitSeconds: limitsOf(deps).sync.doubtSeconds };
  if (plan.held.length === 0) return ok;
  deps.metrics.put('EvictionsHeld', plan.held.length, { cluster: meta.id });
  return { kind: 'postponed', reason: `no other source is ready: slices of ${plan.held.join(', ')} stay`, waitSeconds: heldSeconds };
}

/** The eviction itself needs no wake-up: a source that becomes ready brings its own. This is for the metric, whose alarm would end otherwise. */
const heldSeconds = 300;

function takesMuchAway({ deps }: ClustersetRun, slices: readonly EndpointSlice[], { cluster }: ImportSource, { plans }: ImportedSlicesPlan): boolean {
  const plan = plans.get(cluster);
  if (!plan) return false;
  const { brakeFrom, brakeShare } = limitsOf(deps).sync;
  const own = slices.filter((s) => s.metadata.labels?.[labelSourceCluster] === cluster);
  const before = endpointsIn(own);
  return before >= brakeFrom && endpointsIn(afterwards(own, plan)) < before * brakeShare;
}

const endpointsIn = (slices: readonly Pick<EndpointSlice, 'endpoints'>[]): number => slices.reduce((sum, s) => sum + (s.endpoints?.length ?? 0), 0);

function afterwards(slices: readonly EndpointSlice[], { addressTypes, unsupported }: SlicesPlan): readonly Pick<EndpointSlice, 'endpoints'>[] {
  const updates = addressTypes.flatMap((t) => t.update);
  const changed = new Set([...unsupported, ...updates, ...addressTypes.flatMap((t) => t.delete)].map((s) => s.metadata.name));
  return [...slices.filter((s) => !changed.has(s.metadata.name)), ...updates, ...addressTypes.flatMap((t) => t.create)];
}

/** The source itself if its own API agrees; with that API's pods if it does not; silent, so that nothing of it changes, if it cannot be asked. */
async function confirmedSource(run: ClustersetRun, source: ImportSource, meta: ClusterRecord | undefined): Promise<ImportSource> {
  run.deps.metrics.put('Braked', 1, { cluster: source.cluster });
  const { exported, ...silent } = source;
  if (!meta || !exported) return { ...silent, state: 'silent' };
  const live = await livePods(run, meta, exported.service.spec?.selector ?? {});
  if (!live) return { ...silent, state: 'silent' };
  const known = new Set(exported.pods.map((pod) => pod.metadata.uid));
  return live.every((pod) => known.has(pod.metadata.uid)) ? source : { ...source, exported: { ...exported, pods: live } };
}

/** What comes is written before what goes. */
async function carryOut(
  run: ClustersetRun,
  api: ClusterApi,
  { plans, withdrawn }: ImportedSlicesPlan,
  slices: readonly EndpointSlice[],
): Promise<void> {
  const taken = new Set(slices.map((s) => s.metadata.name));
  const types = [...plans.values()].flatMap((plan) => plan.addressTypes);
  for (const { create, update } of types) {
    for (const draft of create) {
      const slice = assignName(draft, draft.metadata.ownerReferences?.[0]?.uid ?? '', taken);
      taken.add(slice.metadata.name);
      run.assertTimeToWrite();
      await api.create('EndpointSlice', slice);
      run.written.slices++;
    }
    for (const slice of update) {
      run.assertTimeToWrite();
      await api.replace('EndpointSlice', slice);
      run.written.slices++;
    }
  }
  const gone = [...types.flatMap((t) => t.delete), ...[...plans.values()].flatMap((plan) => plan.unsupported), ...withdrawn];
  for (const { metadata } of gone) {
    const { name, uid = '', resourceVersion = '' } = metadata;
    run.assertTimeToWrite();
    await api.delete('EndpointSlice', run.namespace, name, { uid, resourceVersion });
    run.written.slices++;
  }
}
