/**
 * Shadow mode compares the writes that we would make with the outputs of the cluster's own controllers,
 * without a call to the cluster. A difference counts only if it still exists ten seconds later, because the
 * other writer may be about to write.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { recordDifference } from '#shared/clusters/writer/readiness.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import { slicesAfter } from '#shared/controllers/slices/slices-after.ts';
import { type FeatureName, hasFeature } from '#shared/kube/kubernetes-version.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { endpointLines } from '#shared/kube/listed-endpoints.ts';
import {
  annotationOverCapacity,
  endpointsManagedBy,
  labelEndpointsManagedBy,
  optInManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, OutputKind, Pod, Service } from '#shared/kube/types.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readDifference, saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { limited } from '../state/difference-lines.ts';
import { endpointsIn, type Inputs, slicesIn } from '../state/inputs.ts';
import { requeue } from '../state/requeue.ts';
import { comparedLater } from '../state/run-result.ts';
import { type ComparedZones, comparedZones, everyZone } from './compared-zones.ts';
import { planSlices } from './slices-controller.ts';

/** Requeues while a difference waits to be confirmed. */
export async function compareWithCluster(
  deps: SyncDeps,
  cluster: ClusterRecord,
  key: ServiceKey,
  inputs: Inputs,
): Promise<Outcome> {
  const confirmAfterMs = deps.limits.requeue.unconfirmed.afterSeconds * 1000;
  if (inputs.writers.slices.managedBy === optInManagedBy) {
    await savePreview(deps, cluster, key, inputs);
    return ok;
  }
  const differences = inputs.service ? limited(comparedOf(deps, cluster, key, inputs)) : [];
  const known = await readDifference(deps.table, key);
  const text = JSON.stringify(differences);
  if (differences.length === 0) {
    if (known) await saveDifference(deps.table, key, undefined);
    return ok;
  }
  if (known?.text !== text)
    await saveDifference(deps.table, key, { text, sinceMs: deps.now(), confirmed: false });
  if (known?.text !== text || deps.now() - known.sinceMs < confirmAfterMs - 1000)
    return requeue(deps, 'unconfirmed', { reason: comparedLater.toConfirm });
  if (known.confirmed) return ok;
  await saveDifference(deps.table, key, { ...known, confirmed: true });
  await recordDifference(deps.table, key.cluster, deps.now());
  deps.log.warn('shadow difference', {
    cluster: key.cluster,
    namespace: key.namespace,
    service: key.name,
    differences,
  });
  return ok;
}

/**
 * Saves the slices that a Service would get by its annotation for explain, while the cluster's switch for
 * opt-in is `shadow`.
 */
export async function savePreview(
  deps: SyncDeps,
  cluster: ClusterRecord,
  key: ServiceKey,
  inputs: Inputs,
): Promise<void> {
  const wanted =
    inputs.writers.slices.task === 'preview'
      ? [...new Set(sliceLines(slicesAfter([], planSlices(cluster, inputs, []))))].sort()
      : [];
  const lines = limited(wanted.map((line) => `EndpointSlices: would be written: ${line}`));
  const known = await readDifference(deps.table, key);
  const text = JSON.stringify(lines);
  if (lines.length === 0 ? known : known?.text !== text)
    await saveDifference(
      deps.table,
      key,
      lines.length === 0 ? undefined : { text, sinceMs: deps.now(), confirmed: false },
    );
}

/** A service that cannot be compared counts as different: active mode would fail to write it. */
function comparedOf(
  deps: SyncDeps,
  cluster: ClusterRecord,
  key: ServiceKey,
  inputs: Inputs,
): readonly string[] {
  try {
    return differencesOf(cluster, key, inputs, comparedZones(cluster, inputs.nodes, deps.now()));
  } catch (error) {
    deps.log.error('service cannot be compared', {
      ...key,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return [`cannot be compared: ${String(error)}`];
  }
}

export function differencesOf(
  cluster: ClusterRecord,
  key: ServiceKey,
  given: Inputs,
  compared: ComparedZones = everyZone,
): readonly string[] {
  const { kubernetesVersion } = cluster.relay;
  const podsBy = (name: FeatureName): readonly Pod[] =>
    hasFeature(kubernetesVersion, name) ? given.pods : given.pods.map(withoutSidecars);
  const { service, outputs } = given;
  const [pods, inputs] = [podsBy('sidecarPorts'), { ...given, pods: podsBy('sidecarSlicePorts') }];
  const written = endpointsIn(outputs);
  const current =
    written && !hasFeature(kubernetesVersion, 'managedByLabel') ? withManagedBy(written) : written;
  const slices = hasFeature(kubernetesVersion, 'placeholderOwner')
    ? slicesIn(outputs)
    : slicesIn(outputs).map((slice) => withOwnPlaceholder(slice, service));
  const endpoints = decideEndpoints({ ...key, service, pods, current, triggerTimes: undefined });
  // With the annotation beside a selector the slices are compared that the annotation would give: before the
  // selector is removed.
  const plan = planSlices(cluster, { ...inputs, ...inputs.rehearsal, zonesAway: noZones }, slices);
  const wanted = endpoints.write && 'object' in endpoints.write ? endpoints.write.object : current;
  const lines = (e: Endpoints | undefined): readonly string[] => (e ? endpointsLines(e) : []);
  // Outputs that sync wrote before the switch to shadow mode may be saved without their content. The relay
  // sends those of the built-in controllers later.
  const isSaved = (kind: OutputKind): boolean => !outputs.some((o) => o.kind === kind && o.isMetadataOnly);
  return [
    ...(inputs.writers.endpoints.task === 'compare' && isSaved('Endpoints')
      ? diff('Endpoints', lines(compared.endpoints(current)), lines(compared.endpoints(wanted)))
      : []),
    ...(inputs.writers.slices.task === 'compare' && isSaved('EndpointSlice')
      ? diff(
          'EndpointSlices',
          sliceLines(compared.slices(slices)),
          sliceLines(compared.slices(slicesAfter(slices, plan))),
        )
      : []),
  ];
}

/** The cluster's own controllers know nothing of an operator's switch; zonal shifts are in compared-zones.ts. */
const noZones: ReadonlySet<string> = new Set();

const withoutSidecars = ({
  spec: { initContainers: _, ...spec } = { containers: [] },
  ...pod
}: Pod): Pod => ({ ...pod, spec });

/**
 * Without the label the hub would write the Endpoints, with labels whose change alone causes no write
 * (EP-58).
 */
function withManagedBy({ metadata, ...endpoints }: Endpoints): Endpoints {
  return {
    ...endpoints,
    metadata: { ...metadata, labels: { ...metadata.labels, [labelEndpointsManagedBy]: endpointsManagedBy } },
  };
}

/** An older controller keeps the placeholder of a former Service of that name (ES-49). */
function withOwnPlaceholder(slice: EndpointSlice, service: Service | undefined): EndpointSlice {
  const { metadata, endpoints, ports } = slice;
  if (!service || endpoints?.length || ports?.length) return slice;
  const ownerReferences = metadata.ownerReferences?.map((owner) =>
    owner.kind === 'Service' && owner.name === service.metadata.name
      ? { ...owner, uid: service.metadata.uid ?? '' }
      : owner,
  );
  return { ...slice, metadata: { ...metadata, ...(ownerReferences && { ownerReferences }) } };
}

/** Readable lines: what only the cluster has, and what only we would have. */
function diff(what: string, inCluster: readonly string[], wanted: readonly string[]): readonly string[] {
  const [theirs, ours] = [new Set(inCluster), new Set(wanted)];
  return [
    ...[...ours].filter((x) => !theirs.has(x)).map((x) => `${what}: missing in the cluster: ${x}`),
    ...[...theirs].filter((x) => !ours.has(x)).map((x) => `${what}: only in the cluster: ${x}`),
  ].sort();
}

/** The trigger time is left out here and below: it follows from what a process has seen. */
const endpointsLines = ({ metadata, ...output }: Endpoints): readonly string[] => [
  `labels ${labelsText(metadata.labels)}`,
  ...[metadata.annotations?.[annotationOverCapacity]].flatMap((text) =>
    text === undefined ? [] : [`annotation ${annotationOverCapacity}=${text}`],
  ),
  ...endpointLines(output),
];

/** By address type and ports: the slice of an endpoint is not determined. */
const sliceLines = (slices: readonly SliceDraft[]): readonly string[] =>
  slices.flatMap(({ metadata, ...output }) => {
    const owners = (metadata.ownerReferences ?? [])
      .map(({ kind, name, uid }) => `${kind} ${name} ${uid}`)
      .join(', ');
    return [
      `${output.addressType} slice with labels ${labelsText(metadata.labels)} of ${owners}`,
      ...endpointLines(output),
    ];
  });

const labelsText = (labels: Labels | undefined): string =>
  Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join();
