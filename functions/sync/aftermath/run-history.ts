/**
 * The record that a run leaves behind: the write that frees the lease names it, and then it is written. A
 * failure here never fails the run; it is counted, and readers learn that the record is missing.
 */

import { isShadow, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { cutShort, type HistoryRecord, isWorthKeeping } from '#shared/controllers/history/history-record.ts';
import { shortened } from '#shared/controllers/history/shortened.ts';
import { encodeRecord } from '#shared/controllers/history/text.ts';
import { type Controller, isController } from '#shared/kube/controllers.ts';
import { saveRecord } from '#shared/store/outputs/history-records.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { isOursByOptIn } from '../state/inputs.ts';
import type { EndedRun, NewRecord } from '../state/reconciler.ts';
import { comparedLater, type RunResult } from '../state/run-result.ts';
import { nameOf, type ServerState } from '../state/server-state.ts';
import { addressCount, byName, changesOf, endedKinds, type ReachedRun } from './run-changes.ts';

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
    const isKept = isQuiet ? hasChanges(record) : isWorthKeeping(record);
    if (!isKept && !endsOptIn(record, result)) return undefined;
    const text = encodeRecord(record, historyBytes);
    deps.metrics.put('HistoryBytes', text.length, { cluster: claim.service.cluster });
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

function recordOf(
  { claim, result, seenMs, dueMs, beganMs, endedMs }: EndedRun,
  maxNamed: number,
): HistoryRecord {
  const { server, inputs } = result;
  const run = server && inputs && { server, inputs, result };
  const gaps = [...(claim.wasTakenOver ? [cutShort] : []), ...(run ? gapsOf(run) : [])];
  return {
    atMs: beganMs,
    generation: claim.item.generation,
    ...{ seenMs, dueMs, acceptedMs: server?.lastWriteMs, endedMs },
    ...writesOf(server),
    endings: endingsOf(result),
    ...(result.heldBack !== undefined && { heldBack: shortened(result.heldBack) }),
    notes: result.notes ?? [],
    ...(gaps.length > 0 && { gap: gaps.join('; ') }),
    ...(run ? outputsAfter(run, maxNamed) : { changes: [], more: 0 }),
    ...{ times: 1, untilMs: beganMs },
  };
}

const writesOf = (server: ServerState | undefined): Pick<HistoryRecord, 'writes' | 'deletes'> => {
  const { writes = none, deletes = none } = server ?? {};
  return {
    writes: { endpoints: writes.Endpoints, slices: writes.EndpointSlice },
    ...(deletes.Endpoints + deletes.EndpointSlice > 0 && {
      deletes: { endpoints: deletes.Endpoints, slices: deletes.EndpointSlice },
    }),
  };
};

const none = { Endpoints: 0, EndpointSlice: 0 };

function endingsOf({ outcomes }: RunResult): HistoryRecord['endings'] {
  const endings: { -readonly [C in Controller]?: HistoryRecord['endings'][C] } = {};
  for (const [part, outcome] of outcomes) {
    if (!isController(part) || outcome.kind === 'ok' || isComparison(outcome)) continue;
    const text = outcome.kind === 'failed' ? outcome.error : outcome.reason;
    endings[part] = { kind: outcome.kind, text: shortened(text) };
  }
  return endings;
}

const comparisons: readonly string[] = Object.values(comparedLater);
const isComparison = (outcome: Outcome): boolean =>
  outcome.kind === 'requeued' && comparisons.includes(outcome.reason);

/** What the record cannot show of the time just before the run. */
function gapsOf(run: ReachedRun): readonly string[] {
  const adopted = adoptedBy(run);
  const gaps: readonly (readonly [isThere: boolean, text: string])[] = [
    [isRestored(run), 'the cluster was restored or created again: its addresses just before are unknown'],
    [isUnknown(run), 'the content of an output was not saved: what changed it just before may be missing'],
    [adopted === 1, '1 address was there already when the hub first looked'],
    [adopted > 1, `${adopted.toLocaleString('en')} addresses were there already when the hub first looked`],
  ];
  return gaps.flatMap(([isThere, text]) => (isThere ? [text] : []));
}

function outputsAfter(run: ReachedRun, maxNamed: number) {
  const changed = changesOf(run, maxNamed);
  // A run that neither read, wrote nor forgot an output knows no writer.
  const writer = run.server.records.length > 0 || hasForgotten(run) ? writerAfter(run) : undefined;
  return {
    ...(isFirst(run) && { isFirst: true }),
    ...(provesSlices(run) && { provesSlices: true }),
    ...(writer && { writer }),
    ...(run.result.isUnsaved && changed.changes.length + changed.more > 0 && { isUnsaved: true }),
    ...changed,
  };
}

/** Outputs that were saved in an earlier incarnation do not show the state before this run. */
const isRestored = ({ server, inputs, result }: ReachedRun): boolean =>
  inputs.outputs.some(
    (o) =>
      o.version < versionOf(result.cluster?.incarnation ?? 0, '0') &&
      server.records.some((r) => nameOf(r) === nameOf(o)),
  );

/** Has the run written, read or forgotten an output whose content was not saved? */
const isUnknown = ({ server, inputs, result }: ReachedRun): boolean =>
  inputs.outputs.some(
    (o) =>
      o.isMetadataOnly &&
      (endedKinds({ inputs, result }).includes(o.kind) ||
        server.records.some((r) => nameOf(r) === nameOf(o))),
  );

const hasForgotten = ({ inputs, result }: ReachedRun): boolean =>
  inputs.outputs.some((o) => endedKinds({ inputs, result }).includes(o.kind));

const isFirst = ({ server, inputs }: ReachedRun): boolean =>
  server.records.length > 0 && !inputs.outputs.some((o) => o.object);

/** Has the run written or deleted every slice that was saved, or found it unchanged? */
function provesSlices({ server, inputs }: ReachedRun): boolean {
  const slices = inputs.outputs.filter((o) => o.kind === 'EndpointSlice' && o.object);
  const found = byName(server.found.map(({ record }) => record));
  const isProven = (o: OutputRecord): boolean =>
    server.records.some((r) => nameOf(r) === nameOf(o)) &&
    (found.get(nameOf(o))?.version ?? o.version) === o.version;
  return slices.length > 0 && server.writes.EndpointSlice > 0 && slices.every(isProven);
}

/** Undefined where the hub writes in place of the built-in controllers. */
function writerAfter({ server, inputs, result: { cluster } }: ReachedRun): HistoryRecord['writer'] {
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
function adoptedBy({ server, inputs }: ReachedRun): number {
  const known = new Set(inputs.outputs.map(nameOf));
  return addressCount(server.found.flatMap(({ record }) => (known.has(nameOf(record)) ? [] : [record])));
}
