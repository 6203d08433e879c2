/** Labelled lines about the service, its work item, its written outputs and its cluster. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { awayNow, recentShifts } from '#shared/clusters/zones-away.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { annotationOverCapacity, annotationTriggerTime, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { type PartState, partState, type WorkItem } from '#shared/workqueue/rules/item.ts';
import type { Fact } from './explanation.ts';
import type { ExplainInput } from './input.ts';
import { preStopOf } from './relay-timing.ts';
import { endpointsPlaces } from './saved.ts';
import { comparedAsVersion, unsupportedVersion } from './version-support.ts';
import { selectorText, type WriterFacts } from './writer-facts.ts';

export const fact = (label: string, text: string | undefined): Fact[] => (text ? [{ label, text }] : []);

export function serviceFacts(
  service: Service,
  { hints, writer }: Pick<ExplainInput, 'hints'> & { readonly writer: WriterFacts | undefined },
): readonly Fact[] {
  const { metadata, spec = {} } = service;
  const ports = (spec.ports ?? []).map(
    (p) => `${p.name ? `${p.name} ` : ''}${p.port}/${p.protocol ?? 'TCP'} → ${p.targetPort ?? p.port}`,
  );
  const zones = Object.entries(hints?.zones ?? {}).map(
    ([family, counts]) => `${family} ${Object.keys(counts ?? {}).length} zones`,
  );
  return [
    ...fact(
      'Type',
      spec.clusterIP === 'None' ? `${spec.type ?? 'ClusterIP'}, headless` : (spec.type ?? 'ClusterIP'),
    ),
    ...fact('Writer', writer?.name),
    ...fact('Why', writer?.why),
    ...fact('Selector', selectorText(service) ?? 'none'),
    ...fact('Ports', ports.join(', ') || 'none'),
    ...fact('Families', addressTypesOf({ metadata, spec }).join(', ')),
    ...fact(
      'Not-ready addresses',
      spec.publishNotReadyAddresses ? 'published as if they were ready' : undefined,
    ),
    ...fact('Topology hints', zones.join(', ')),
    ...fact('Created', metadata.creationTimestamp),
    ...fact(
      'Being deleted',
      metadata.deletionTimestamp && `since ${metadata.deletionTimestamp}: no new slices are made`,
    ),
  ];
}

export function workFacts({ work, triggers, now, cluster, difference }: ExplainInput): readonly Fact[] {
  const newest = Math.max(
    0,
    ...[triggers.endpoints, triggers.slices].flatMap((t) => (t ? [t.service, ...t.pods.values()] : [])),
  );
  const runs = (controller: Controller): boolean => cluster.settings.controllers.includes(controller);
  return [
    ...fact('Generation', work.generation === 0 ? 'never woken' : String(work.generation)),
    ...fact('Endpoints', controllerText(work, partState(work, 'endpoints'), runs('endpoints'), now)),
    ...fact('EndpointSlices', controllerText(work, partState(work, 'slices'), runs('slices'), now)),
    ...fact('Pending since', work.dirtyAtMs === undefined ? undefined : timeText(work.dirtyAtMs, now)),
    ...fact('Last run', work.ranAtMs > 0 ? timeText(work.ranAtMs, now) : 'never'),
    ...fact('Lease', leaseText(work, now)),
    ...fact(
      'Reads the API server',
      work.apiReadGeneration > Math.min(...controllers.map((c) => partState(work, c).doneGeneration))
        ? `until generation ${work.apiReadGeneration} is done`
        : undefined,
    ),
    ...fact('Newest change seen', newest > 0 ? timeText(newest, now) : undefined),
    ...fact(
      'Difference',
      difference &&
        `${difference.confirmed ? 'confirmed, ' : 'not confirmed yet, '}since ${timeText(difference.sinceMs, now)}`,
    ),
  ];
}

function controllerText({ generation }: WorkItem, state: PartState, on: boolean, now: number): string {
  const { doneGeneration, failures, retryGeneration, retryDueMs } = state;
  if (!on) return 'switched off for this cluster';
  if (generation === 0) return 'nothing to do yet';
  if (doneGeneration >= generation) return `done (generation ${doneGeneration})`;
  const tries = failures > 0 ? `, ${failures} failed ${failures === 1 ? 'try' : 'tries'} of 16` : '';
  const next =
    retryGeneration > doneGeneration && retryDueMs > 0 ? `, next try ${comingText(retryDueMs, now)}` : '';
  return `pending: generation ${doneGeneration} of ${generation} is done${tries}${next}`;
}

function leaseText({ lease }: WorkItem, now: number): string {
  if (!lease) return 'free';
  return lease.untilMs > now
    ? `until ${comingText(lease.untilMs, now)}`
    : `expired ${timeText(lease.untilMs, now)}`;
}

export function savedFacts({
  saved: { endpoints, slices, withoutContent = [] },
}: Pick<ExplainInput, 'saved'>): readonly Fact[] {
  const places = [...endpointsPlaces(endpoints).values()];
  const ready = places.filter((p) => p === 'addresses').length;
  const annotations = endpoints?.metadata.annotations;
  const count = slices.reduce((n, s) => n + (s.endpoints ?? []).length, 0);
  const endpointsText = endpoints
    ? `${ready} ready, ${places.length - ready} not ready`
    : withoutContent.includes('Endpoints')
      ? tooLarge
      : 'none';
  const slicesText =
    slices.length === 0
      ? []
      : [`${slices.length} with ${count} endpoints, of ${managersOf(slices).join(' and ')}`];
  const large = withoutContent.filter((kind) => kind === 'EndpointSlice').length;
  const times = slices.flatMap((s) => s.metadata.annotations?.[annotationTriggerTime] ?? []).sort();
  return [
    ...fact('Endpoints', endpointsText),
    ...fact('Over capacity', annotations?.[annotationOverCapacity]),
    ...fact('Slices', [...slicesText, ...(large > 0 ? [`${large} ${tooLarge}`] : [])].join('; ') || 'none'),
    ...fact('Trigger time, Endpoints', annotations?.[annotationTriggerTime]),
    ...fact('Trigger time, slices', times.at(-1)),
    ...fact(
      'Not read',
      'slices of other managers, which proxies use too: kubectl endpoints explain names them',
    ),
  ];
}

const tooLarge = 'too large to be saved: each run reads them from the API server';

const managersOf = (slices: readonly EndpointSlice[]): readonly string[] => [
  ...new Set(slices.map((s) => s.metadata.labels?.[labelSliceManagedBy] ?? 'no manager')),
];

export function clusterFacts({
  cluster,
  moreFacts: more = [],
  now,
}: Pick<ExplainInput, 'cluster' | 'moreFacts' | 'now'>): readonly Fact[] {
  const missing = missingFirstLists(cluster);
  const { batchPeriodSeconds, maxEndpointsPerSlice } = cluster.settings;
  return [
    ...fact('Mode', cluster.mode),
    ...fact('Kubernetes', versionText(cluster)),
    ...fact('Opt-in', cluster.withdrawsOptIn ? 'being withdrawn' : cluster.optIn),
    ...more,
    ...fact('Zones away', zonesText(cluster, now)),
    ...fact('Compared without', isShadow(cluster) ? [...recentShifts(cluster, now)].join(', ') : undefined),
    ...fact('Circuit', circuitText(cluster, now)),
    ...fact(
      'First lists',
      missing.length === 0
        ? 'complete'
        : `missing ${missing.join(', ')}: nothing runs until they are complete`,
    ),
    ...fact(
      'Relay',
      cluster.relay.heartbeatAtMs === 0
        ? 'no heartbeat yet'
        : `last heartbeat ${timeText(cluster.relay.heartbeatAtMs, now)}`,
    ),
    ...fact('preStop', preStopOf(cluster.relay)),
    ...fact(
      'Mode switch',
      cluster.modeSwitch.wakesPending ? 'under way: some services are not enqueued for it yet' : undefined,
    ),
    ...fact('Batch period', batchPeriodSeconds > 0 ? `${batchPeriodSeconds} s` : undefined),
    ...fact('Endpoints per slice', `at most ${maxEndpointsPerSlice}`),
  ];
}

const zonesText = (cluster: ClusterRecord, now: number): string =>
  awayNow(cluster, now)
    .map(({ zone, untilMs, by, reason }) => {
      const why = reason ? `: ${reason}` : '';
      return `${zone} until ${comingText(untilMs, now)}, by ${by}${why}`;
    })
    .join('; ');

function versionText(cluster: ClusterRecord): string | undefined {
  const { kubernetesVersion } = cluster.relay;
  const compared = isShadow(cluster) ? comparedAsVersion(kubernetesVersion) : undefined;
  return (
    unsupportedVersion(kubernetesVersion) ??
    (compared ? `${kubernetesVersion}, ${compared}` : kubernetesVersion)
  );
}

/**
 * Formats a past time as "2026-03-01T10:00:00Z (3 s ago)". The clock of the function may be ahead of the
 * reader's clock.
 */
export const timeText = (ms: number, now: number): string => comingText(Math.min(ms, now), now, ms);

/** Formats a time that may be in the future, as "2026-03-01T10:00:00Z (in 3 s)". */
function comingText(ms: number, now: number, shownMs = ms): string {
  const seconds = Math.round(Math.abs(now - ms) / 1000);
  const span =
    seconds < 120
      ? `${seconds} s`
      : seconds < 7200
        ? `${Math.round(seconds / 60)} min`
        : seconds < 172_800
          ? `${Math.round(seconds / 3600)} h`
          : `${Math.round(seconds / 86_400)} days`;
  return `${new Date(shownMs).toISOString().replace(/\.\d+Z$/, 'Z')} (${ms > now ? `in ${span}` : `${span} ago`})`;
}

function circuitText({ circuit, writerConflict }: ClusterRecord, now: number): string {
  if (writerConflict) return 'open (writer-conflict): nothing is written until an operator switches the mode';
  return circuit ? `open (${circuit.reason}), next probe ${comingText(circuit.untilMs, now)}` : 'closed';
}
