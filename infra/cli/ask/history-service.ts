/** The history of a service as the table holds it. */

import { notKnownThen } from '#infra/cli/ask/explain/cluster-known.ts';
import { writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import { type Link, missingRecords } from '#infra/cli/ask/history/missing-records.ts';
import { whyNotKnown } from '#infra/cli/ask/history/not-known.ts';
import { asRun } from '#infra/cli/ask/history/observed-then.ts';
import { effectiveMs, isOfCluster } from '#infra/cli/ask/history/record-facts.ts';
import { withRepeatsCounted } from '#infra/cli/ask/history/repeats.ts';
import { exactTime, type Filter, type RunText, runText } from '#infra/cli/ask/history/sentences.ts';
import { switchesThen } from '#infra/cli/ask/history/switches-then.ts';
import { addressesThen, cutShortBeside, notKnown, type Then } from '#infra/cli/ask/history/then.ts';
import { thereAre } from '#infra/cli/terminal/counted.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { isShadow, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { addressesOf } from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { decodeRecord } from '#shared/controllers/history/text.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { Service } from '#shared/kube/types.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { recordsSince } from '#shared/store/outputs/history-records.ts';
import { type OutputObject, readOutputs } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { explainObserved, mostObserved, readObserved } from './read-observed.ts';
import { unknownService } from './unknown-service.ts';

export interface History {
  readonly cluster: ClusterRecord;
  /** Oldest first. */
  readonly records: readonly (HistoryRecord & Link)[];
  /** When runs ended whose records are missing, or cannot be read, newest first. */
  readonly missing: readonly number[];
  /** There are more records before these. */
  readonly hasOlder: boolean;
  /** A worker holds the lease, or died with it: outputs that it saved may have no record yet. */
  readonly isRunning: boolean;
  /** `historyDays` of the cluster's settings; with 0 the hub writes no history. */
  readonly days: number;
}

export interface Period {
  readonly sinceMs: number;
  readonly nowMs: number;
  /** Number of records, the newest ones; left out: all. */
  readonly atMost?: number;
}

/** Returns the runs that ended in the period. Throws a UsageError if the cluster does not exist. */
export async function readHistory(table: Table, key: ServiceKey, period: Period): Promise<History> {
  const { sinceMs, nowMs, atMost = Number.POSITIVE_INFINITY } = period;
  const cluster = await readCluster(table, key.cluster);
  if (!cluster) throw new UsageError(`no cluster ${key.cluster}: ${thereAre(await listClusters(table))}`);
  const { historyDays: days } = cluster.settings;
  // Older records are left out, because DynamoDB deletes expired items with a delay.
  const from = Math.max(sinceMs, days > 0 ? nowMs - days * 86_400_000 : 0);
  // The work item is read before the records: a record that is written in between is found, and the one
  // before it too.
  const { newestRecord, lease } = await readWork(table, { ...key, kind: 'service' });
  const records: (HistoryRecord & Link)[] = [];
  let hasOlder = false;
  for await (const { text, ...link } of recordsSince(table, key, from)) {
    hasOlder = records.length === atMost;
    if (hasOlder) break;
    const record = text === undefined ? undefined : decodeRecord(text);
    if (record) records.push({ ...record, ...link });
  }
  const missing = missingRecords(newestRecord, records, hasOlder ? (records.at(-1)?.id ?? from) : from);
  return { cluster, records: records.reverse(), missing, hasOlder, isRunning: lease !== undefined, days };
}

/** For terminal and console: sentences, newest last. */
export interface HistoryRuns {
  readonly runs: readonly RunText[];
  /** The records of `runs`, in the same order. */
  readonly records: readonly HistoryRecord[];
  /** Remarks about the whole answer. */
  readonly remarks: readonly string[];
}

const ofShadow = 'the cluster is in shadow mode: the hub does not write, so it keeps no history';

/**
 * Throws a UsageError with the known names if the cluster, the service, or the filter's pod or address is
 * unknown.
 */
export async function readRuns(
  table: Table,
  key: ServiceKey,
  { sinceMs, ...period }: Period,
  filter: Filter = {},
): Promise<HistoryRuns> {
  const known = await readKnown(table, key);
  const { cluster, records, missing, hasOlder, days } = await readHistory(table, key, {
    ...period,
    sinceMs: 0,
  });
  if (isUnknown(known, records)) throw await unknownService(table, key, period.nowMs);
  checkFilter(key, records, known, filter);
  // Of a Service that the hub has written too, the runs alone are runs.
  const observed = records.some(isOfCluster)
    ? []
    : await readObserved(table, key, period.atMost ?? mostObserved);
  const all = [...records, ...observed.map(asRun)].sort((a, b) => effectiveMs(a) - effectiveMs(b));
  const inTime = all.filter((r) => effectiveMs(r) >= sinceMs);
  const runs = withRepeatsCounted(inTime).flatMap((record) => {
    const text = runText(record, filter);
    return text ? [{ record, text }] : [];
  });
  const missingInTime = missing.filter((id) => id >= sinceMs);
  const why = runs.length === 0 && known.service && whyNotWritten(known.service, cluster, known.outputs);
  const remarks = [
    ...(days === 0 ? ['no history is kept of this cluster (settings.historyDays is 0)'] : []),
    ...(isShadow(cluster) && !writesOptIn(cluster) && observed.length === 0
      ? [ofShadow]
      : why
        ? [`the hub does not write now, so it keeps no history: ${why}`]
        : []),
    ...(hasOlder ? ['runs before these: fleet-endpoints history'] : []),
    ...(missingInTime.length > 0 ? [missingText(missingInTime)] : []),
  ];
  return { runs: runs.map((r) => r.text), records: runs.map((r) => r.record), remarks };
}

const missingText = ([newest = 0, ...others]: readonly number[]): string =>
  `the record of the run that ended at ${exactTime(newest)}${others.length > 0 ? ` and ${others.length} before it` : ''} is missing`;

interface Known {
  readonly service: Service | undefined;
  /** Outputs that sync has saved as present. */
  readonly outputs: readonly OutputObject[];
  /** An output is too large to be saved with its addresses. */
  readonly isPartlySaved: boolean;
}

async function readKnown(table: Table, key: ServiceKey): Promise<Known> {
  const [record, saved] = await Promise.all([
    readObject({ table, cluster: key.cluster }, 'Service', key.namespace, key.name),
    readOutputs(table, key),
  ]);
  const service = decodeObjectOf('Service', record);
  const outputs = saved.flatMap(({ object }) => (object ? [object] : []));
  return { service, outputs, isPartlySaved: saved.some((o) => o.isMetadataOnly) };
}

/** There is neither an object of the service nor a trace. */
const isUnknown = ({ service, outputs }: Known, records: readonly HistoryRecord[]): boolean =>
  !service && outputs.length === 0 && records.length === 0;

/** A record that does not name all its pods may be of any. */
function checkFilter(
  key: ServiceKey,
  records: readonly HistoryRecord[],
  { outputs, isPartlySaved }: Known,
  { pod, address }: Filter,
): void {
  if (isPartlySaved || records.some((r) => r.more > 0)) return;
  const listed = [...addressesOf(outputs).values()];
  const moves = records.flatMap((r) =>
    r.changes.flatMap((c) => c.moves.map((m) => ({ pod: c.pod, address: m.address }))),
  );
  const check = (what: 'pod' | 'address', wanted: string | undefined): void => {
    if (wanted === undefined) return;
    const all = [...new Set([...listed, ...moves].map((entry) => entry[what]).filter(Boolean))].sort();
    if (all.includes(wanted)) return;
    throw new UsageError(
      `no ${what} ${wanted} is listed now or in the history of ${key.namespace}/${key.name} in ${key.cluster}: ${thereAre(all)}`,
    );
  };
  check('pod', pod);
  check('address', address);
}

/**
 * How the written addresses were at a time, or why that is not known. Throws a UsageError for a time to come,
 * and for one before all records.
 */
export async function explainThen(table: Table, key: ServiceKey, atMs: number, nowMs: number): Promise<Then> {
  if (atMs > nowMs) throw new UsageError(`${exactTime(atMs)} is in the future: it is ${exactTime(nowMs)}`);
  const audits = await listAudit(table, key.cluster);
  // The outputs are read before the records: a run that saved them has a record by then, or is found running,
  // or its record is missing.
  const known = await readKnown(table, key);
  const { service, outputs, isPartlySaved } = known;
  const { cluster, records, missing, days, isRunning } = await readHistory(table, key, { sinceMs: 0, nowMs });
  if (isUnknown(known, records)) throw await unknownService(table, key, nowMs);
  if (days === 0) throw new UsageError('no history is kept of this cluster: settings.historyDays is 0');
  const earliest = nowMs - days * 86_400_000;
  if (atMs < earliest)
    throw new UsageError(
      `${exactTime(atMs)} is too long ago: history is kept for ${days} days, since ${exactTime(earliest)}`,
    );
  const [gapMs = 0] = missing;
  if (atMs < gapMs) return notKnown(atMs, missingText(missing));
  const sinceGap = records.filter(({ id }) => id > gapMs);
  const switches = switchesThen(cluster, audits, atMs);
  const metaThen = { ...cluster, mode: switches.unpaused ?? cluster.mode, optIn: switches.optIn };
  const state = {
    keptSinceMs: cluster.historySinceMs,
    switches,
    hasOutputs: outputs.some((o) => !isShadow(metaThen) || isOptInSlice(o)),
    whyNotNow: service && whyNotWritten(service, metaThen, outputs),
  };
  const reason = isPartlySaved
    ? 'an output of the Service is too large to be saved with its addresses'
    : whyNotKnown(sinceGap, state, atMs);
  const restored = restoredAfter(cluster, sinceGap, atMs);
  const silent = [notKnownThen(cluster, atMs, nowMs) ?? []].flat();
  const running = isRunning ? ['a run has not ended yet: its changes may be missing'] : [];
  const isWritten = sinceGap.some((r) => isOfCluster(r) && effectiveMs(r) <= atMs);
  const isOfOthers = switches.mode === 'shadow' && !sinceGap.some(isOfCluster);
  if (reason !== undefined && isOfOthers && atMs >= cluster.historySinceMs) {
    const observed = await explainObserved(table, key, {
      ...{ atMs, keptSinceMs: earliest, switchedAtMs: switches.sinceMs },
    });
    // The built-in controllers' outputs are not all if the hub may have written slices beside them.
    const ours = switches.optIn === 'active' ? [...cutShortBeside(sinceGap, atMs), ...running] : [];
    if (observed?.isKnown)
      return { ...observed, caveats: [...observed.caveats, ...restored, ...ours, ...silent] };
    if (observed) return observed;
  }
  if (reason !== undefined) return notKnown(atMs, [reason, ...(isWritten ? restored : [])].join('; '));
  const then = addressesThen(sinceGap, addressesOf(outputs), atMs);
  const isNewest = !sinceGap.some((r) => isOfCluster(r) && effectiveMs(r) > atMs);
  const caveats = [
    ...then.caveats,
    ...(switches.mode === 'paused' ? [pausedSince(switches.sinceMs)] : []),
    ...restored,
    ...(cluster.writerConflict && isNewest
      ? [
          'another client keeps writing the same objects, and the hub has stopped: the addresses since then are unknown',
        ]
      : []),
    ...partOff(cluster),
    ...(service && switches.optIn !== 'off' && mayHaveLeftovers(service, cluster) ? [leftBehind] : []),
    ...(missing.length > 0 ? [`${missingText(missing)}: earlier changes are left out`] : []),
    ...running,
    ...silent,
  ];
  return { ...then, caveats };
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

/** Undefined: the hub writes the Service's endpoints in its cluster, or leaves its own slices as they are. */
function whyNotWritten(
  service: Service,
  cluster: ClusterRecord,
  outputs: Known['outputs'],
): string | undefined {
  const { endpoints, slices } = writersFor(service, { ...cluster, writerConflict: false });
  const isHeld =
    slices.by === 'invalid-annotation' || (slices.by === 'no-annotation' && outputs.some(isOptInSlice));
  const isWritten = endpoints.task === 'write' || slices.task === 'write' || (isHeld && writesOptIn(cluster));
  return isWritten ? undefined : writerFacts(service, cluster).why;
}
