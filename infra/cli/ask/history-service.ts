/** The history of a service as the table holds it. */

import { derivedFromImport, writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import { type Link, missingRecords } from '#infra/cli/ask/history/missing-records.ts';
import { asRun } from '#infra/cli/ask/history/observed-then.ts';
import { effectiveMs, isOfCluster } from '#infra/cli/ask/history/record-facts.ts';
import { withRepeatsCounted } from '#infra/cli/ask/history/repeats.ts';
import { exactTime, type Filter, type RunText, runText } from '#infra/cli/ask/history/sentences.ts';
import { thereAre } from '#infra/cli/terminal/counted.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { isShadow, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { addressesOf, type ListedAddress } from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { decodeRecord } from '#shared/controllers/history/text.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import type { Service } from '#shared/kube/types.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { decodeDeltas } from '#shared/store/outputs/deltas.ts';
import { recordsSince } from '#shared/store/outputs/history-records.ts';
import { type OutputObject, readOutputs } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { mostObserved, readObserved } from './read-observed.ts';
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
  // Of a Service that the hub has written too, the runs alone are runs.
  const observed = records.some(isOfCluster)
    ? []
    : await readObserved(table, key, period.atMost ?? mostObserved);
  const all = [...records, ...observed.map(asRun)].sort((a, b) => effectiveMs(a) - effectiveMs(b));
  if (isUnknown(known, all)) throw await unknownService(table, key, period.nowMs);
  refuseImports(known);
  const listed = [...addressesOf(known.outputs).values(), ...observed.flatMap(({ whole = [] }) => whole)];
  if (!known.isPartlySaved) checkFilter(key, all, listed, filter);
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

export const missingText = ([newest = 0, ...others]: readonly number[]): string =>
  `the record of the run that ended at ${exactTime(newest)}${others.length > 0 ? ` and ${others.length} before it` : ''} is missing`;

export interface Known {
  readonly service: Service | undefined;
  /** Outputs that sync has saved as present. */
  readonly outputs: readonly OutputObject[];
  /** An output is too large to be saved with its addresses. */
  readonly isPartlySaved: boolean;
  /** A worker holds the lease, or died with it: the outputs may lack what it has written. */
  readonly isRunning: boolean;
}

export async function readKnown(table: Table, key: ServiceKey): Promise<Known> {
  const { deltas, lease } = await readWork(table, { ...key, kind: 'service' });
  const [record, saved] = await Promise.all([
    readObject({ table, cluster: key.cluster }, 'Service', key.namespace, key.name),
    readOutputs(table, key, decodeDeltas(deltas)),
  ]);
  const service = decodeObjectOf('Service', record);
  const outputs = saved.flatMap(({ object }) => (object ? [object] : []));
  const isPartlySaved = saved.some((o) => o.isMetadataOnly);
  return { service, outputs, isPartlySaved, isRunning: lease !== undefined };
}

/** Throws for a Service whose slices are those of an import: the hub writes them, and keeps no record. */
export function refuseImports({ service }: Known): void {
  const name = service && derivedFromImport(service);
  if (name === undefined) return;
  const { namespace } = service?.metadata ?? {};
  throw new UsageError(
    `no history is kept of imports: it is the derived Service of ${namespace}/${name}, and explain of that tells what the last run wrote`,
  );
}

/** There is neither an object of the service nor a trace. */
export const isUnknown = ({ service, outputs }: Known, records: readonly HistoryRecord[]): boolean =>
  !service && outputs.length === 0 && records.length === 0;

/** A record that does not name all its pods may be of any. */
function checkFilter(
  key: ServiceKey,
  records: readonly HistoryRecord[],
  listed: readonly ListedAddress[],
  { pod, address }: Filter,
): void {
  if (records.some((r) => r.more > 0)) return;
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

/** Undefined: the hub writes the Service's endpoints in its cluster, or leaves its own slices as they are. */
export function whyNotWritten(
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
