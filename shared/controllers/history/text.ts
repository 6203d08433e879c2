/** The text of a record in the table: JSON, which the store deflates. */
import type { HistoryRecord } from './history-record.ts';

/** Halves the number of named pods until the text has at most `maxBytes`, and counts the rest. */
export function encodeRecord(record: HistoryRecord, maxBytes: number): string {
  const text = JSON.stringify(record);
  const pods = [...new Set(record.changes.map(({ pod }) => pod))];
  if (pods.length === 0 || encoder.encode(text).length <= maxBytes) return text;
  const named = new Set(pods.slice(0, pods.length >> 1));
  const changes = record.changes.filter(({ pod }) => named.has(pod));
  return encodeRecord({ ...record, changes, more: record.more + pods.length - named.size }, maxBytes);
}

const encoder = new TextEncoder();

/** Returns undefined if the text is not a record. Readers ignore the fields of a later version. */
export function decodeRecord(text: string): HistoryRecord | undefined {
  try {
    const record = JSON.parse(text) as HistoryRecord | null;
    return Number.isFinite(record?.atMs) ? (record as HistoryRecord) : undefined;
  } catch {
    return undefined;
  }
}
