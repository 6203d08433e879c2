/** The history of a service as the table holds it: the newest records beside its work, older ones in items of their own. */
import { listClusters, readCluster } from '#shared/clusters/record.ts';
import { addressesOf } from '#shared/history/addresses.ts';
import { effectiveMs, type HistoryRecord, identityOf } from '#shared/history/history-record.ts';
import { type Filter, type Told, tell, timeText } from '#shared/history/sentences.ts';
import { decodeRecords } from '#shared/history/text.ts';
import { addressesThen, type Then } from '#shared/history/then.ts';
import { readChunks, unpack } from '#shared/store/history-chunks.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readOutputs } from '#shared/store/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { UsageError } from './usage-error.ts';

export interface History {
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
  return { records: kept.sort((a, b) => effectiveMs(a) - effectiveMs(b)), unreadable: lists.filter((l) => l === undefined).length, days };
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

export async function toldHistory(
  table: Table,
  key: ServiceKey,
  from: { readonly sinceMs: number; readonly nowMs: number },
  filter: Filter = {},
): Promise<ToldHistory> {
  const { records, unreadable, days } = await readHistory(table, key, from.sinceMs, from.nowMs);
  const told = records.flatMap((record) => tell(record, filter) ?? []);
  const remarks = [
    ...(days === 0 ? ['no history is kept of this cluster (settings.historyDays is 0)'] : []),
    ...(unreadable > 0 ? [`${unreadable} lists of records can’t be read by this version`] : []),
  ];
  return { told, remarks };
}

/** How the written addresses were at a time. Throws a UsageError for a time that the history does not reach. */
export async function explainThen(table: Table, key: ServiceKey, atMs: number, nowMs: number): Promise<Then> {
  if (atMs > nowMs) throw new UsageError(`${timeText(atMs)} is still to come: it is ${timeText(nowMs)}`);
  const { records, days, unreadable } = await readHistory(table, key, 0, nowMs);
  if (days === 0) throw new UsageError('no history is kept of this cluster: settings.historyDays is 0');
  const earliest = nowMs - days * 86_400_000;
  if (atMs < earliest) throw new UsageError(`${timeText(atMs)} is too long ago: history is kept for ${days} days, since ${timeText(earliest)}`);
  const outputs = await readOutputs(table, key);
  const then = addressesThen(records, addressesOf(outputs.flatMap(({ object }) => (object ? [object] : []))), atMs);
  return unreadable === 0 ? then : { ...then, caveats: [...then.caveats, 'some records since then can’t be read by this version'] };
}
