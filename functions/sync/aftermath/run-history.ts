/**
 * The record that a run leaves behind: made when the outputs are saved, written when the lease is free. A
 * failure here never fails the run; it is counted, and readers learn that the record is missing.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isShadow, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { type Addresses, addressesOf, inEndpoints } from '#shared/controllers/history/addresses.ts';
import { changesBetween, type Why } from '#shared/controllers/history/changes.ts';
import { cutShort, type HistoryRecord, isWorthKeeping } from '#shared/controllers/history/history-record.ts';
import { shortened } from '#shared/controllers/history/shortened.ts';
import { encodeRecord } from '#shared/controllers/history/text.ts';
import { isOwnedBy } from '#shared/controllers/slices/planned-slice.ts';
import { verdictsOf } from '#shared/controllers/verdicts/pod-verdicts.ts';
import type { ChangeReason } from '#shared/controllers/verdicts/verdict.ts';
import { type Controller, isController, outputKindOf } from '#shared/kube/controllers.ts';
import { annotationOverCapacity, fieldManagerOf } from '#shared/kube/names.ts';
import type { EndpointSlice, OutputKind } from '#shared/kube/types.ts';
import { saveRecord } from '#shared/store/outputs/history-records.ts';
import type { OutputObject, OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';
import type { SyncDeps } from '../state/deps.ts';
import { type Inputs, isOursByOptIn } from '../state/inputs.ts';
import type { EndedRun, NewRecord } from '../state/reconciler.ts';
import { comparedLater, type RunResult } from '../state/run-result.ts';
import { nameOf, type ServerState } from '../state/server-state.ts';

/** Returns undefined if the run did nothing that a reader would miss, or if its cluster keeps no history. */
export function newRecord(deps: SyncDeps, run: EndedRun): NewRecord | undefined {
  const { claim, result, endedMs } = run;
  const previous = claim.item.newestRecord;
  const id = Math.max(endedMs, (previous ?? 0) + 1);
  const unwritten: NewRecord = { id, write: async () => {} };
  const days = result.cluster?.settings.historyDays ?? 0;
  if (days === 0) return undefined;
  // The hub follows nothing in plain shadow mode. A run before the switch may have been cut short: the record
  // marks that gap.
  const isQuiet =
    result.cluster && isShadow(result.cluster) && !writesOptIn(result.cluster) && !claim.wasTakenOver;
  try {
    const { historyNamed, historyBytes } = deps.limits.sync;
    const record = recordOf(run, historyNamed);
    if (isQuiet ? !hasChanges(record) : !isWorthKeeping(record) && !endsOptIn(record, result))
      return undefined;
    const text = encodeRecord(record, historyBytes);
    const write = () => saveRecord(deps.table, claim.service, { id, previous, text }, days);
    return { id, write: () => write().catch((error: unknown) => countLost(deps, run, error)) };
  } catch (error) {
    countLost(deps, run, error);
    return unwritten;
  }
}

/**
 * In plain shadow mode too slices of the hub are withdrawn, or forgotten: without a record they would seem
 * never to have been listed.
 */
const hasChanges = ({ writes, changes, more }: HistoryRecord): boolean =>
  writes.endpoints + writes.slices + changes.length + more > 0;

function countLost({ metrics, log }: SyncDeps, { claim: { service } }: EndedRun, error: unknown): void {
  metrics.put('HistoryLost', 1, { cluster: service.cluster });
  log.warn('history lost', { ...service, error: String(error) });
}

/**
 * Returns true if the run ended the opt-in of the Service. Its slices may have been empty, so the changes
 * alone do not show it.
 */
const endsOptIn = ({ writer }: HistoryRecord, { inputs }: RunResult): boolean =>
  writer !== undefined && writer !== 'opt-in' && (inputs?.outputs.some(isOursByOptIn) ?? false);

const comparisons: readonly string[] = Object.values(comparedLater);

function recordOf(
  { claim, result, seenMs, dueMs, beganMs, endedMs }: EndedRun,
  maxNamed: number,
): HistoryRecord {
  const { server, inputs, outcomes } = result;
  const endings = [...outcomes].flatMap(([part, o]): [Controller, HistoryRecord['endings'][Controller]][] => {
    if (!isController(part) || o.kind === 'ok' || (o.kind === 'requeued' && comparisons.includes(o.reason)))
      return [];
    return [[part, { kind: o.kind, text: shortened(o.kind === 'failed' ? o.error : o.reason) }]];
  });
  const run = server && inputs && { server, inputs, result };
  const adopted = run ? adoptedBy(run) : 0;
  const gaps = [
    ...(claim.wasTakenOver ? [cutShort] : []),
    ...(run && isRestored(run)
      ? ['the cluster was restored or created again: its addresses just before are unknown']
      : []),
    ...(run && isUnknown(run)
      ? ['the content of an output was not saved: what changed it just before may be missing']
      : []),
    ...(adopted === 1 ? ['1 address was there already when the hub first looked'] : []),
    ...(adopted > 1
      ? [`${adopted.toLocaleString('en')} addresses were there already when the hub first looked`]
      : []),
  ];
  const changed = run ? changesOf(run, maxNamed) : { changes: [], more: 0 };
  // A run that neither read, wrote nor forgot an output knows no writer.
  const writer = run && (run.server.records.length > 0 || hasForgotten(run)) ? writerAfter(run) : undefined;
  return {
    atMs: beganMs,
    generation: claim.item.generation,
    ...{ seenMs, dueMs, acceptedMs: server?.lastWriteMs, endedMs },
    writes: { endpoints: server?.writes.Endpoints ?? 0, slices: server?.writes.EndpointSlice ?? 0 },
    ...(server && deletesOf(server)),
    endings: Object.fromEntries(endings),
    ...(result.heldBack !== undefined && { heldBack: shortened(result.heldBack) }),
    notes: result.notes ?? [],
    ...(gaps.length > 0 && { gap: gaps.join('; ') }),
    ...(run && isFirst(run) && { isFirst: true }),
    ...(run && provesSlices(run) && { provesSlices: true }),
    ...(writer && { writer }),
    ...(result.isUnsaved && changed.changes.length + changed.more > 0 && { isUnsaved: true }),
    ...changed,
    ...{ times: 1, untilMs: beganMs },
  };
}

interface Reached {
  readonly server: ServerState;
  readonly inputs: Inputs;
  readonly result: RunResult;
}

/** Outputs that were saved in an earlier incarnation do not show the state before this run. */
const isRestored = ({ server, inputs, result }: Reached): boolean =>
  inputs.outputs.some(
    (o) =>
      o.version < versionOf(result.cluster?.incarnation ?? 0, '0') &&
      server.records.some((r) => nameOf(r) === nameOf(o)),
  );

/** Has the run written, read or forgotten an output whose content was not saved? */
const isUnknown = ({ server, inputs, result }: Reached): boolean =>
  inputs.outputs.some(
    (o) =>
      o.isMetadataOnly &&
      (endedKinds({ inputs, result }).includes(o.kind) ||
        server.records.some((r) => nameOf(r) === nameOf(o))),
  );

const hasForgotten = ({ inputs, result }: Reached): boolean =>
  inputs.outputs.some((o) => endedKinds({ inputs, result }).includes(o.kind));

/** The run forgets the outputs of a service that is gone, of the controllers that are done with it. */
const endedKinds = ({ inputs, result }: Pick<Reached, 'inputs' | 'result'>): readonly OutputKind[] =>
  inputs.service
    ? []
    : [...result.outcomes].flatMap(([part, { kind }]) =>
        kind === 'ok' && isController(part) ? [outputKindOf[part]] : [],
      );

const deletesOf = ({ deletes }: ServerState): Pick<HistoryRecord, 'deletes'> =>
  deletes.Endpoints + deletes.EndpointSlice > 0
    ? { deletes: { endpoints: deletes.Endpoints, slices: deletes.EndpointSlice } }
    : {};

const isFirst = ({ server, inputs }: Reached): boolean =>
  server.records.length > 0 && !inputs.outputs.some((o) => o.object);

/** Has the run written or deleted every slice that was saved? */
function provesSlices({ server, inputs }: Reached): boolean {
  const slices = inputs.outputs.filter((o) => o.kind === 'EndpointSlice' && o.object);
  return (
    slices.length > 0 &&
    server.writes.EndpointSlice > 0 &&
    slices.every((o) => server.records.some((r) => nameOf(r) === nameOf(o)))
  );
}

/** Undefined where the hub writes in place of the built-in controllers. */
function writerAfter({ server, inputs, result: { cluster } }: Reached): HistoryRecord['writer'] {
  if (!cluster || !isShadow(cluster)) return undefined;
  if (!inputs.service) return 'none';
  const { by } = inputs.writers.slices;
  const after = new Map([...byName(inputs.outputs), ...byName(server.records)]);
  if (by === 'opt-in' || [...after.values()].some(isOursByOptIn)) return 'opt-in';
  return by === 'built-in' ? 'built-in' : 'none';
}

/**
 * Addresses that a run found on the API server of which nothing was saved: as in its first run of a cluster.
 * Each counts once, wherever it is listed.
 */
function adoptedBy({ server, inputs }: Reached): number {
  const known = new Set(inputs.outputs.map(nameOf));
  return addressCount(server.found.flatMap(({ record }) => (known.has(nameOf(record)) ? [] : [record])));
}

const addressCount = (records: readonly OutputRecord[]): number =>
  new Set([...view(records).values()].map(({ pod, address }) => `${pod} ${address}`)).size;

/**
 * An address may be in an output that the run did not touch too: in the slices of the writer before, while a
 * Service is handed over.
 */
function changesOf(
  run: Reached,
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
  const changes = changesBetween(
    { saved: before, found: foundBefore },
    view(after.values()),
    whyOf(run),
    otherWriter(run),
    maxNamed,
  );
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

const byName = (records: readonly OutputRecord[]): ReadonlyMap<string, OutputRecord> =>
  new Map(records.map((r) => [nameOf(r), r]));

const view = (records: Iterable<OutputRecord>): Addresses =>
  addressesOf([...records].flatMap(({ object }): OutputObject[] => (object ? [object] : [])));

function whyOf({ server, inputs, result }: Reached): Why {
  const { service, nodes, namespacePods } = inputs;
  // Mostly of one pod, so that a map of them all would not pay.
  const podOf = (name: string) => ({
    pod: namespacePods.find((p) => p.name === name)?.pod,
    formerLabels: [],
  });
  const isOverCapacity = server.records.some(
    (r) => r.kind === 'Endpoints' && r.object?.metadata.annotations?.[annotationOverCapacity] !== undefined,
  );
  const { cluster } = result;
  const handedOver = handOverReason(inputs, cluster);
  return (name, where) => {
    const handOver = where === inEndpoints ? handedOver.endpoints : handedOver.slices;
    if (handOver) return { ...handOver, why: shortened(handOver.why) };
    if (name === '' || !cluster) return { reason: 'NoPod', why: 'an address without a pod' };
    const { endpoints, slices } = verdictsOf(service, podOf(name), nodes);
    if (where !== inEndpoints) {
      const { reason, why } =
        slices.find((s) => s.family === where) ?? withoutFamily(service !== undefined, where);
      return { reason, why: shortened(why) };
    }
    const over =
      isOverCapacity && endpoints.place !== 'absent'
        ? '; Endpoints are over capacity and list ready pods first'
        : '';
    return { reason: endpoints.reason, why: shortened(`${endpoints.why}${over}`) };
  };
}

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
function otherWriter({ server, result }: Reached): string {
  const managers = server.found.flatMap(({ manager }) => (manager ? [manager] : []));
  const ours = fieldManagerOf(result.cluster?.writer);
  return managers.find((m) => m !== ours) ?? 'another client';
}
