/**
 * Shadow mode: what we would write against what the cluster's own controllers wrote. Needs no credentials and no way to the cluster. A
 * difference counts only if it is still there ten seconds later: the other writer may just be at it.
 */

import { recordDifference } from '#shared/clusters/readiness.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { decideEndpoints } from '#shared/endpoints/decide.ts';
import { optInManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import { decideSlices } from '#shared/slices/decide.ts';
import type { SlicesPlan } from '#shared/slices/plan.ts';
import { slicesAfter } from '#shared/slices/slices-after.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readDifference, saveDifference } from '#shared/store/shadow-record.ts';
import type { SyncDeps } from '../state/deps.ts';
import { limited } from '../state/difference-lines.ts';
import { endpointsIn, type Inputs, slicesIn } from '../state/inputs.ts';
import { requeueRun } from '../state/requeue.ts';
import { comparedLater } from '../state/run-result.ts';

/** Throws RequeueAfter while a difference waits to be confirmed. Gives the next trigger times, so that a later switch starts from the truth. */
export async function compareWithCluster(deps: SyncDeps, meta: ClusterRecord, key: ServiceKey, inputs: Inputs): Promise<void> {
  const confirmAfterMs = limitsOf(deps).requeue.differenceUnconfirmed.afterSeconds * 1000;
  if (inputs.writers.slices.as === optInManagedBy) return savePreview(deps, meta, key, inputs);
  const differences = inputs.service ? limited(comparedOf(deps, meta, key, inputs)) : [];
  const known = await readDifference(deps.table, key);
  const text = JSON.stringify(differences);
  if (differences.length === 0) {
    if (known) await saveDifference(deps.table, key, undefined);
    return;
  }
  if (known?.text !== text) {
    await saveDifference(deps.table, key, { text, sinceMs: deps.now(), confirmed: false });
    throw requeueRun(deps, 'differenceUnconfirmed', { reason: comparedLater.toConfirm });
  }
  if (deps.now() - known.sinceMs < confirmAfterMs - 1000) throw requeueRun(deps, 'differenceUnconfirmed', { reason: comparedLater.toConfirm });
  if (known.confirmed) return;
  await saveDifference(deps.table, key, { ...known, confirmed: true });
  await recordDifference(deps.table, key.cluster, deps.now());
  deps.log.warn('shadow difference', { cluster: key.cluster, namespace: key.namespace, service: key.name, differences });
}

/** Saves the slices that a Service would get by its annotation for explain, while the cluster's switch for opt-in is `shadow`. */
export async function savePreview(deps: SyncDeps, meta: ClusterRecord, key: ServiceKey, inputs: Inputs): Promise<void> {
  const wanted = inputs.writers.slices.task === 'preview' ? [...sliceView(slicesAfter([], planOf(meta, key, inputs, [])))].sort() : [];
  const lines = limited(wanted.map((line) => `EndpointSlices: would be written: ${line}`));
  const known = await readDifference(deps.table, key);
  const text = JSON.stringify(lines);
  if (lines.length === 0 ? known : known?.text !== text)
    await saveDifference(deps.table, key, lines.length === 0 ? undefined : { text, sinceMs: deps.now(), confirmed: false });
}

/** A service that cannot be compared counts as different: active mode would fail to write it. */
function comparedOf(deps: SyncDeps, meta: ClusterRecord, key: ServiceKey, inputs: Inputs): readonly string[] {
  try {
    return differencesOf(meta, key, inputs);
  } catch (error) {
    deps.log.error('service cannot be compared', { ...key, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    return [`cannot be compared: ${String(error)}`];
  }
}

function differencesOf(meta: ClusterRecord, key: ServiceKey, inputs: Inputs): readonly string[] {
  const { service, pods, outputs } = inputs;
  const current = endpointsIn(outputs);
  const slices = slicesIn(outputs);
  const endpoints = decideEndpoints({ ...key, service, pods, current, triggerTimes: undefined });
  // With the annotation beside a selector the slices are compared that the annotation would give: before the selector is removed.
  const plan = planOf(meta, key, { ...inputs, ...inputs.rehearsal }, slices);
  const wanted = endpoints.write && 'object' in endpoints.write ? endpoints.write.object : current;
  // Outputs that sync wrote before the switch to shadow mode may be saved without their content. The relay sends those of the built-in controllers later.
  const isSaved = (kind: OutputKind): boolean => !outputs.some((o) => o.kind === kind && o.isMetadataOnly);
  return [
    ...(inputs.writers.endpoints.task === 'compare' && isSaved('Endpoints') ? diff('Endpoints', subsetView(current), subsetView(wanted)) : []),
    ...(inputs.writers.slices.task === 'compare' && isSaved('EndpointSlice')
      ? diff('EndpointSlices', sliceView(slices), sliceView(slicesAfter(slices, plan)))
      : []),
  ];
}

function planOf(meta: ClusterRecord, key: ServiceKey, inputs: Inputs, slices: readonly EndpointSlice[]): SlicesPlan {
  const { service, pods, nodes, nodesSeen, hints } = inputs;
  const { maxEndpointsPerSlice } = meta.settings;
  return decideSlices({ ...key, service, pods, nodes, nodesSeen, slices, triggerTimes: undefined, hints, maxEndpointsPerSlice });
}

/** Readable lines: what only the cluster has, and what only we would have. */
function diff(what: string, theirs: ReadonlySet<string>, ours: ReadonlySet<string>): readonly string[] {
  return [
    ...[...ours].filter((x) => !theirs.has(x)).map((x) => `${what}: missing in the cluster: ${x}`),
    ...[...theirs].filter((x) => !ours.has(x)).map((x) => `${what}: only in the cluster: ${x}`),
  ].sort();
}

const portsText = (ports: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null | undefined): string =>
  (ports ?? [])
    .map((p) => `${p.name ?? ''}:${p.port}/${p.protocol}`)
    .sort()
    .join(',') || 'no ports';

function subsetView(endpoints: Endpoints | undefined): ReadonlySet<string> {
  const view = new Set<string>();
  for (const s of endpoints?.subsets ?? []) {
    for (const a of s.addresses ?? []) view.add(`${a.ip} (${a.targetRef?.name ?? ''}) ready on ${portsText(s.ports)}`);
    for (const a of s.notReadyAddresses ?? []) view.add(`${a.ip} (${a.targetRef?.name ?? ''}) not ready on ${portsText(s.ports)}`);
  }
  return view;
}

/** As sets per address type and port group: which endpoint lies in which slice is not determined. */
function sliceView(slices: readonly Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>[]): ReadonlySet<string> {
  const view = new Set<string>();
  for (const s of slices) {
    for (const e of s.endpoints ?? []) {
      const { ready, serving, terminating } = e.conditions ?? {};
      const zones = (e.hints?.forZones ?? []).map((z) => z.name).join(',');
      view.add(
        `${s.addressType} ${(e.addresses ?? []).join(',')} (${e.targetRef?.name ?? ''}) ready=${ready} serving=${serving} terminating=${terminating} ` +
          `node=${e.nodeName ?? ''} zone=${e.zone ?? ''}${zones && ` for ${zones}`} on ${portsText(s.ports)}`,
      );
    }
  }
  return view;
}
