/** What `explain --at` knows of a Service: how the written addresses were at a time, as the table holds it. */
import { notKnownThen } from '#infra/cli/ask/explain/cluster-known.ts';
import { whyNotKnown } from '#infra/cli/ask/history/not-known.ts';
import { effectiveMs, isOfCluster } from '#infra/cli/ask/history/record-facts.ts';
import { exactTime } from '#infra/cli/ask/history/sentences.ts';
import { type SwitchesThen, switchesThen } from '#infra/cli/ask/history/switches-then.ts';
import { addressesThen, cutShortBeside, notKnown, type Then } from '#infra/cli/ask/history/then.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { addressesOf } from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { Service } from '#shared/kube/types.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import {
  isUnknown,
  type Known,
  missingText,
  readHistory,
  readKnown,
  refuseImports,
  whyNotWritten,
} from './history-service.ts';
import { explainObserved, readObserved } from './read-observed.ts';
import { unknownService } from './unknown-service.ts';

/**
 * How the written addresses were at a time, or why that is not known. Throws a UsageError for a time to come,
 * and for one before all records.
 */
export async function explainThen(table: Table, key: ServiceKey, atMs: number, nowMs: number): Promise<Then> {
  if (atMs > nowMs) throw new UsageError(`${exactTime(atMs)} is in the future: it is ${exactTime(nowMs)}`);
  const audits = await listAudit(table, key.cluster);
  // The outputs are read before the records: a run that saved them has a record by then, or is found running,
  // or its record is missing. One that saves them later is found running by the first read.
  const known = await readKnown(table, key);
  const { service, outputs } = known;
  const history = await readHistory(table, key, { sinceMs: 0, nowMs });
  const { cluster, records, missing, days } = history;
  if (isUnknown(known, records) && (await readObserved(table, key, 1)).length === 0)
    throw await unknownService(table, key, nowMs);
  refuseImports(known);
  const earliest = earliestKept(days, atMs, nowMs);
  const [gapMs = 0] = missing;
  if (atMs < gapMs) return notKnown(atMs, missingText(missing));
  const sinceGap = records.filter(({ id }) => id > gapMs);
  const switches = switchesThen(cluster, audits, atMs);
  const reason = unknownBecause(known, { cluster, records: sinceGap, switches }, atMs);
  const restored = restoredAfter(cluster, sinceGap, atMs);
  const silent = [notKnownThen(cluster, atMs, nowMs) ?? []].flat();
  const running = notEnded(known, history);
  if (reason === undefined) {
    const then = addressesThen(sinceGap, addressesOf(outputs), atMs);
    const ofCluster = caveatsOf(service, { cluster, records: sinceGap, switches }, atMs);
    const caveats = [
      ...then.caveats,
      ...(switches.mode === 'paused' ? [pausedSince(switches.sinceMs)] : []),
      ...restored,
      ...ofCluster,
      ...(missing.length > 0 ? [`${missingText(missing)}: earlier changes are left out`] : []),
      ...running,
      ...silent,
    ];
    return { ...then, caveats };
  }
  const isOfOthers = switches.mode === 'shadow' && !sinceGap.some(isOfCluster);
  if (isOfOthers && atMs >= cluster.historySinceMs) {
    const observed = await explainObserved(table, key, {
      ...askedOf(cluster, switches),
      ...{ atMs, keptSinceMs: earliest, service },
    });
    // The built-in controllers' outputs are not all if the hub may have written slices beside them.
    const ours = switches.optIn === 'active' ? [...cutShortBeside(sinceGap, atMs), ...running] : [];
    if (observed?.isKnown)
      return { ...observed, caveats: [...observed.caveats, ...restored, ...ours, ...silent] };
    if (observed) return observed;
  }
  const before = sinceGap.filter((r) => effectiveMs(r) <= atMs);
  return notKnown(atMs, whyThen(reason, before, missing, restored));
}

const notEnded = (...reads: readonly { readonly isRunning: boolean }[]): readonly string[] =>
  reads.some(({ isRunning }) => isRunning) ? ['a run has not ended yet: its changes may be missing'] : [];

/** `before`: the records up to the time, since the last gap in them. */
const whyThen = (
  reason: string,
  before: readonly HistoryRecord[],
  missing: readonly number[],
  restored: readonly string[],
): string =>
  missing.length > 0 && before.length === 0
    ? missingText(missing)
    : [reason, ...(before.some(isOfCluster) ? restored : [])].join('; ');

const askedOf = (cluster: ClusterRecord, { sinceMs = 0 }: SwitchesThen) => ({
  cluster,
  switchedAtMs: sinceMs > cluster.historySinceMs ? sinceMs : undefined,
  heartbeatAtMs: cluster.relay.heartbeatAtMs,
});

function earliestKept(days: number, atMs: number, nowMs: number): number {
  if (days === 0) throw new UsageError('no history is kept of this cluster: settings.historyDays is 0');
  const earliest = nowMs - days * 86_400_000;
  if (atMs >= earliest) return earliest;
  throw new UsageError(
    `${exactTime(atMs)} is too long ago: history is kept for ${days} days, since ${exactTime(earliest)}`,
  );
}

/** The cluster's records since the last gap in them, and its switches at a time. */
interface ClusterThen {
  readonly cluster: ClusterRecord;
  readonly records: readonly HistoryRecord[];
  readonly switches: SwitchesThen;
}

/** Undefined: the addresses at that time are known. */
function unknownBecause(
  { service, outputs, isPartlySaved }: Known,
  { cluster, records, switches }: ClusterThen,
  atMs: number,
): string | undefined {
  if (isPartlySaved) return 'an output of the Service is too large to be saved with its addresses';
  const metaThen = { ...cluster, mode: switches.unpaused ?? cluster.mode, optIn: switches.optIn };
  const state = {
    keptSinceMs: cluster.historySinceMs,
    switches,
    hasOutputs: outputs.some((o) => !isShadow(metaThen) || isOptInSlice(o)),
    whyNotNow: service && whyNotWritten(service, metaThen, outputs),
  };
  return whyNotKnown(records, state, atMs);
}

/** What the records of the hub's writes may lack. */
function caveatsOf(
  service: Service | undefined,
  { cluster, records, switches }: ClusterThen,
  atMs: number,
): readonly string[] {
  const isNewest = !records.some((r) => isOfCluster(r) && effectiveMs(r) > atMs);
  return [
    ...(cluster.writerConflict && isNewest
      ? [
          'another client keeps writing the same objects, and the hub has stopped: the addresses since then are unknown',
        ]
      : []),
    ...partOff(cluster),
    ...(service && switches.optIn !== 'off' && mayHaveLeftovers(service, cluster) ? [leftBehind] : []),
  ];
}

const pausedSince = (sinceMs: number | undefined): string =>
  `the cluster was paused${sinceMs === undefined ? '' : ` since ${exactTime(sinceMs)}`}: the hub wrote nothing, and the history lacks writes of other clients`;

/**
 * The hub learns later that the cluster went back. A write proves that it had not until then: its
 * preconditions would have failed.
 */
function restoredAfter(
  { incarnationSinceMs }: ClusterRecord,
  records: readonly HistoryRecord[],
  atMs: number,
): readonly string[] {
  const provesHistory = (r: HistoryRecord): boolean =>
    r.writes.endpoints + r.writes.slices > 0 && effectiveMs(r) > atMs && effectiveMs(r) <= incarnationSinceMs;
  if (atMs >= incarnationSinceMs || records.some(provesHistory)) return [];
  return [
    `the cluster was restored, or created again, before ${exactTime(incarnationSinceMs)}: its addresses just before are unknown`,
  ];
}

const leftBehind = 'leftovers of the built-in controllers stay, and the history lacks them';

/** The hub deletes leftovers for a Service that opts in, unless the setting is off. */
function mayHaveLeftovers(service: Service, cluster: ClusterRecord): boolean {
  const { by } = writerOf(service);
  return (
    by === 'invalid-annotation' ||
    by === 'no-annotation' ||
    (by !== 'built-in' && !cluster.settings.optInCleanup)
  );
}

const partOff = ({ settings: { controllers } }: ClusterRecord): readonly string[] =>
  controllers.length === 1
    ? [
        `the hub’s controller of ${controllers[0] === 'endpoints' ? 'EndpointSlices' : 'Endpoints'} is off: the history lacks other clients’ writes of them`,
      ]
    : [];
