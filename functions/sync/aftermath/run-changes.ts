/** What a run changed of its service's addresses, and why. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { awayReason } from '#shared/clusters/zones-away.ts';
import { type Addresses, addressesOf, inEndpoints } from '#shared/controllers/history/addresses.ts';
import { changesBetween, type Why } from '#shared/controllers/history/changes.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { shortened } from '#shared/controllers/history/shortened.ts';
import { isOwnedBy } from '#shared/controllers/slices/planned-slice.ts';
import { verdictsOf } from '#shared/controllers/verdicts/pod-verdicts.ts';
import type { ChangeReason, PodVerdicts } from '#shared/controllers/verdicts/verdict.ts';
import { podsAway } from '#shared/controllers/zones/pods-away.ts';
import { isController, outputKindOf } from '#shared/kube/controllers.ts';
import { annotationOverCapacity, fieldManagerOf } from '#shared/kube/names.ts';
import type { EndpointSlice, OutputKind } from '#shared/kube/types.ts';
import type { OutputObject, OutputRecord } from '#shared/store/outputs/outputs.ts';
import { type Inputs, isOursByOptIn } from '../state/inputs.ts';
import type { RunResult } from '../state/run-result.ts';
import { nameOf, type ServerState } from '../state/server-state.ts';

/** A run that got as far as the cluster. */
export interface ReachedRun {
  readonly server: ServerState;
  readonly inputs: Inputs;
  readonly result: RunResult;
}

/**
 * An address may be in an output that the run did not touch too: in the slices of the writer before, while a
 * Service is handed over.
 */
export function changesOf(
  run: ReachedRun,
  maxNamed: number,
): Pick<HistoryRecord, 'changes' | 'more' | 'foundOtherwise'> {
  const { server, inputs } = run;
  const found = byName(server.found.map(({ record }) => record));
  // An output whose content is not saved was as the run found it.
  const saved = new Map([...found, ...byName(inputs.outputs.filter((o) => !o.isMetadataOnly))]);
  const kept = inputs.outputs.filter((o) => !endedKinds(run).includes(o.kind));
  const after = new Map([...byName(kept), ...byName(server.records)]);
  const before = view(saved.values());
  const foundBefore = found.size > 0 ? view(new Map([...saved, ...found]).values()) : before;
  const changes = changesBetween({ saved: before, found: foundBefore }, view(after.values()), {
    why: whyOf(run),
    otherWriter: otherWriter(run),
    maxNamed,
  });
  // The garbage collector takes the slices of a Service that is gone, also where another one has its name.
  const { service } = inputs;
  const isCollected = ({ kind, object }: OutputRecord): boolean =>
    kind === 'EndpointSlice' &&
    object !== undefined &&
    !(service && isOwnedBy(object as EndpointSlice, service));
  const collected = addressCount(inputs.outputs.filter(isCollected));
  const { endpoints = 0, slices = 0 } = changes.foundOtherwise ?? {};
  return {
    ...changes,
    ...(collected > 0 && { foundOtherwise: { endpoints, slices: Math.max(collected, slices) } }),
  };
}

export const byName = (records: readonly OutputRecord[]): ReadonlyMap<string, OutputRecord> =>
  new Map(records.map((r) => [nameOf(r), r]));

const view = (records: Iterable<OutputRecord>): Addresses =>
  addressesOf([...records].flatMap(({ object }): OutputObject[] => (object ? [object] : [])));

function whyOf({ server, inputs, result: { cluster } }: ReachedRun): Why {
  const isOverCapacity = server.records.some(
    (r) => r.kind === 'Endpoints' && r.object?.metadata.annotations?.[annotationOverCapacity] !== undefined,
  );
  const handedOver = handOverReason(inputs, cluster);
  const away = awayOf(inputs, cluster);
  return (name, where) => {
    const isThere = name !== '' && cluster !== undefined;
    const { reason, why } =
      handedOver[where === inEndpoints ? 'endpoints' : 'slices'] ??
      (isThere ? causeOfPod(inputs, name, where, { isOverCapacity, away: away(name) }) : withoutPod);
    return { reason, why: shortened(why) };
  };
}

const withoutPod: Cause = { reason: 'NoPod', why: 'an address without a pod' };

/** Why a pod is left out while its zone is away, by its name. */
function awayOf(
  { service, pods, nodes, zonesAway }: Inputs,
  cluster: ClusterRecord | undefined,
): (name: string) => string | undefined {
  const { pods: out } = service ? podsAway(service, { pods, nodes, zonesAway }) : { pods: new Set() };
  const { byShifts = [], byOperators = [] } = cluster?.zones ?? {};
  return (name) => {
    if (!out.has(name)) return undefined;
    const pod = pods.find(({ metadata }) => metadata.name === name);
    return awayReason([...byShifts, ...byOperators], nodes.get(pod?.spec?.nodeName ?? ''));
  };
}

interface Known {
  readonly isOverCapacity: boolean;
  readonly away: string | undefined;
}

function causeOfPod(inputs: Inputs, name: string, where: string, { isOverCapacity, away }: Known): Cause {
  const { service, nodes, namespacePods } = inputs;
  // Mostly of one pod, so that a map of them all would not pay.
  const pod = namespacePods.find((p) => p.name === name)?.pod;
  const { endpoints, slices } = verdictsOf(service, { pod, formerLabels: [], away }, nodes);
  if (where === inEndpoints) return isOverCapacity ? overCapacity(endpoints) : endpoints;
  return slices.find((s) => s.family === where) ?? withoutFamily(service !== undefined, where);
}

const overCapacity = ({ reason, why, place }: PodVerdicts['endpoints']): Cause => ({
  reason,
  why: place === 'absent' ? why : `${why}; Endpoints are over capacity and list ready pods first`,
});

interface Cause {
  readonly reason: ChangeReason;
  readonly why: string;
}

/** The reason of a hand-over, which overrides the reasons of the pods. */
function handOverReason(
  { writers, outputs }: Inputs,
  cluster: ClusterRecord | undefined,
): { readonly endpoints?: Cause; readonly slices?: Cause } {
  if (!cluster || (cluster.optIn === 'off' && !outputs.some(isOursByOptIn))) return {};
  const { by, reason } = writers.slices;
  if (by === 'opt-in')
    return { endpoints: { reason: 'OptedIn', why: 'the Service opted in: its Endpoints were deleted' } };
  if (by === 'none') return { slices: { reason: 'Withdrawn', why: `its slices were withdrawn: ${reason}` } };
  if (by === 'built-in' && isShadow(cluster))
    return { slices: { reason: 'HandedBack', why: `handed back to the built-in controllers: ${reason}` } };
  return {};
}

const withoutFamily = (isThere: boolean, family: string): Cause =>
  isThere
    ? { reason: 'NoFamily', why: `the service has no ${family} slices` }
    : { reason: 'ServiceDeleted', why: 'the service does not exist' };

/** Who had written what the run found changed. */
function otherWriter({ server, result }: ReachedRun): string {
  const managers = server.found.flatMap(({ manager }) => (manager ? [manager] : []));
  const ours = fieldManagerOf(result.cluster?.writer);
  return managers.find((m) => m !== ours) ?? 'another client';
}

/** The run forgets the outputs of a service that is gone, of the controllers that are done with it. */
export const endedKinds = ({
  inputs,
  result,
}: Pick<ReachedRun, 'inputs' | 'result'>): readonly OutputKind[] =>
  inputs.service
    ? []
    : [...result.outcomes].flatMap(([part, { kind }]) =>
        kind === 'ok' && isController(part) ? [outputKindOf[part]] : [],
      );

export const addressCount = (records: readonly OutputRecord[]): number =>
  new Set([...view(records).values()].map(({ pod, address }) => `${pod} ${address}`)).size;
