/** The history of a service as the table holds it: the newest records beside its work, older ones in items of their own. */
import { listAudit } from '#shared/clusters/audit.ts';
import { isShadow, writesOptIn } from '#shared/clusters/mode.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { switchesThen } from '#shared/clusters/switches-then.ts';
import { writersFor } from '#shared/clusters/writer-for.ts';

import { defaultOptInSettings } from '#shared/contract/cluster-settings.ts';
import { writerFacts } from '#shared/explain/writer-facts.ts';
import { addressesOf } from '#shared/history/addresses.ts';
import { effectiveMs, type HistoryRecord, identityOf, isOfCluster } from '#shared/history/history-record.ts';
import { whyNotKnown } from '#shared/history/not-known.ts';
import { type Filter, type Told, tell, timeText } from '#shared/history/sentences.ts';
import { decodeRecords } from '#shared/history/text.ts';
import { addressesThen, notKnown, type Then } from '#shared/history/then.ts';
import type { Service } from '#shared/kube/types.ts';
import { isOptInSlice } from '#shared/opt-in/hand-over.ts';
import { writerOf } from '#shared/opt-in/writer.ts';
import { readChunks, unpack } from '#shared/store/history-chunks.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { decodeObjectOf, readObject } from '#shared/store/objects.ts';
import { type OutputObject, readOutputs } from '#shared/store/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { listedNames, unknownService } from './unknown-service.ts';
import { UsageError } from './usage-error.ts';

export interface History {
  readonly meta: ClusterRecord;
  /** Oldest first. */
  readonly records: readonly HistoryRecord[];
  /** Lists of records that a newer version has written, or that are broken. */
  readonly unreadable: number;
  /** Of the cluster's settings; 0: none is kept. */
  readonly days: number;
}

/** What ended at `sinceMs` or later. Throws a UsageError when there is no such cluster. */
export async function readHistory(table: Table, key: ServiceKey, sinceMs: number, nowMs: number): Promise<History> {
  const meta = await readCluster(table, key.cluster);
  if (!meta) throw new UsageError(`no cluster ${key.cluster}: there are ${(await listClusters(table)).join(', ') || 'none'}`);
  // The work item first: what moves from it to an item of its own meanwhile is met twice, and not missed.
  const { history } = await readWork(table, key);
  const { historyDays: days } = meta.settings;
  // What is older the table may have taken away already, or not yet.
  const from = Math.max(sinceMs, days > 0 ? nowMs - days * 86_400_000 : 0);
  const lists = [...(await readChunks(table, key, from)), ...(history ? [history] : [])].map(recordsIn);
  const records = new Map<string, HistoryRecord>();
  for (const list of lists) for (const record of list ?? []) records.set(identityOf(record), record);
  const kept = [...records.values()].filter((r) => Math.max(effectiveMs(r), r.untilMs) >= from);
  return { meta, records: kept.sort((a, b) => effectiveMs(a) - effectiveMs(b)), unreadable: lists.filter((l) => l === undefined).length, days };
}

function recordsIn(packed: Uint8Array): readonly HistoryRecord[] | undefined {
  const text = unpack(packed);
  return text === undefined ? undefined : decodeRecords(text);
}

/** For terminal and console: sentences, newest last. */
export interface ToldHistory {
  readonly told: readonly Told[];
  /** What a reader has to know of the whole. */
  readonly remarks: readonly string[];
}

const ofShadow = 'the cluster is in shadow mode: nothing is written in shadow mode, so no history is kept';

/** Throws a UsageError with the known names if the cluster, the service, or the filter's pod or address is unknown. */
export async function toldHistory(
  table: Table,
  key: ServiceKey,
  from: { readonly sinceMs: number; readonly nowMs: number },
  filter: Filter = {},
): Promise<ToldHistory> {
  const { meta, records, unreadable, days } = await readHistory(table, key, 0, from.nowMs);
  const known = await readKnown(table, key, records);
  checkFilter(key, records, known, filter);
  const told = records.filter((r) => Math.max(effectiveMs(r), r.untilMs) >= from.sinceMs).flatMap((record) => tell(record, filter) ?? []);
  const remarks = [
    ...(days === 0 ? ['no history is kept of this cluster (settings.historyDays is 0)'] : []),
    ...(isShadow(meta) && !writesOptIn(meta) ? [ofShadow] : []),
    ...(unreadable > 0 ? [`${unreadable} lists of records can’t be read by this version`] : []),
  ];
  return { told, remarks };
}

interface Known {
  readonly service: Service | undefined;
  /** Outputs that sync has saved as present. */
  readonly outputs: readonly OutputObject[];
}

/** Throws a UsageError for a service of which there is neither an object nor a trace. */
async function readKnown(table: Table, key: ServiceKey, records: readonly HistoryRecord[]): Promise<Known> {
  const [record, saved] = await Promise.all([
    readObject({ table, cluster: key.cluster }, 'Service', key.namespace, key.name),
    readOutputs(table, key),
  ]);
  const service = decodeObjectOf('Service', record);
  const outputs = saved.flatMap(({ object }) => (object ? [object] : []));
  if (!service && outputs.length === 0 && records.length === 0) throw await unknownService(table, key);
  return { service, outputs };
}

/** A record that does not name all its pods may be of any. */
function checkFilter(key: ServiceKey, records: readonly HistoryRecord[], { outputs }: Known, { pod, address }: Filter): void {
  if (records.some((r) => r.more > 0)) return;
  const listed = [...addressesOf(outputs).values()];
  const moves = records.flatMap((r) => r.changes.flatMap((c) => c.moves.map((m) => ({ pod: c.pod, address: m.address }))));
  const check = (what: 'pod' | 'address', wanted: string | undefined): void => {
    if (wanted === undefined) return;
    const all = [...new Set([...listed, ...moves].map((of) => of[what]).filter(Boolean))].sort();
    if (all.includes(wanted)) return;
    throw new UsageError(
      `no ${what} ${wanted} is listed now or on record of ${key.namespace}/${key.name} in ${key.cluster}: there are ${listedNames(all)}`,
    );
  };
  check('pod', pod);
  check('address', address);
}

/** How the written addresses were at a time, or why that is not known. Throws a UsageError for a time to come, and for one before all records. */
export async function explainThen(table: Table, key: ServiceKey, atMs: number, nowMs: number): Promise<Then> {
  if (atMs > nowMs) throw new UsageError(`${timeText(atMs)} is still to come: it is ${timeText(nowMs)}`);
  // Before the outputs: what a run writes meanwhile is among its records at the latest then.
  const audits = await listAudit(table, key.cluster);
  const { meta, records, days, unreadable } = await readHistory(table, key, 0, nowMs);
  const { service, outputs } = await readKnown(table, key, records);
  if (days === 0) throw new UsageError('no history is kept of this cluster: settings.historyDays is 0');
  const earliest = nowMs - days * 86_400_000;
  if (atMs < earliest) throw new UsageError(`${timeText(atMs)} is too long ago: history is kept for ${days} days, since ${timeText(earliest)}`);
  const switches = switchesThen(meta, audits, atMs);
  const metaThen = { ...meta, mode: switches.unpaused ?? meta.mode, optIn: switches.optIn };
  const standing = {
    keptSinceMs: meta.historySinceMs,
    switches,
    hasOutputs: outputs.some((o) => !isShadow(metaThen) || isOptInSlice(o)),
    whyNotNow: service && whyNotWritten(service, metaThen),
  };
  const reason = whyNotKnown(records, standing, atMs);
  if (reason !== undefined) return notKnown(atMs, reason);
  const then = addressesThen(records, addressesOf(outputs), atMs);
  const isNewest = !records.some((r) => isOfCluster(r) && effectiveMs(r) > atMs);
  const caveats = [
    ...then.caveats,
    ...(switches.mode === 'paused' ? [pausedSince(switches.sinceMs)] : []),
    ...(meta.writerConflict && isNewest
      ? ['another client keeps writing what the hub writes, and the hub has stopped: what is listed since is not known']
      : []),
    ...partOff(meta),
    ...(service && writerOf(service).by === 'opt-in' && !optInSettings(meta).cleanup ? [leftBehind] : []),
    ...(unreadable > 0 ? ['some records since then can’t be read by this version'] : []),
  ];
  return { ...then, caveats };
}

const pausedSince = (sinceMs: number | undefined): string =>
  `the cluster was paused${sinceMs === undefined ? '' : ` since ${timeText(sinceMs)}`}: the hub wrote nothing, and what others wrote is not on record`;

const optInSettings = ({ settings }: ClusterRecord) => ({ ...defaultOptInSettings, ...settings.optIn });

const leftBehind = 'settings.optIn.cleanup is off: what the built-in controllers left of the Service stays, and is not on record';

const partOff = ({ settings: { endpoints, slices } }: ClusterRecord): readonly string[] =>
  endpoints === slices
    ? []
    : [`the hub’s controller of ${endpoints ? 'EndpointSlices' : 'Endpoints'} is off: what others write of them is not on record`];

/** Undefined: the hub writes the Service's endpoints in its cluster, or leaves its own slices as they are. */
function whyNotWritten(service: Service, meta: ClusterRecord): string | undefined {
  const { endpoints, slices } = writersFor(service, { ...meta, writerConflict: false });
  const isWritten = endpoints.task === 'write' || slices.task === 'write' || (slices.by === 'invalid-annotation' && writesOptIn(meta));
  return isWritten ? undefined : writerFacts(service, meta).why;
}
