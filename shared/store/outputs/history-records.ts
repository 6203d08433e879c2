/**
 * The history of a service: an item for each run with a record, newest first. The table's TTL deletes them.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { historyOf, type ServiceKey } from '../keys.ts';
import { inPages } from '../pages.ts';
import type { Table } from '../table.ts';

export interface StoredRecord {
  /**
   * End of the run, ms since the epoch. It is always greater than `previous`, even if clocks of workers
   * differ.
   */
  readonly id: number;
  /** Id of the record before this one. Undefined for the service's first record. */
  readonly previous: number | undefined;
  /** Text of the record (history/text.ts). Undefined if it cannot be inflated. */
  readonly text: string | undefined;
}

/** Sort keys count down, so a query returns the newest record first. */
const sortKey = (id: number): string => String(Number.MAX_SAFE_INTEGER - id).padStart(16, '0');

const dayInSeconds = 86_400;

export async function saveRecord(
  table: Table,
  s: ServiceKey,
  { id, previous, text }: StoredRecord & { readonly text: string },
  days: number,
) {
  const key = { pk: historyOf(s), sk: sortKey(id) };
  const ttl = Math.ceil(id / 1000) + days * dayInSeconds;
  await table.put({ ...key, id, ...(previous !== undefined && { previous }), r: deflateRawSync(text), ttl });
}

/** Most records have some hundred bytes, and the maximum is 64 KB. */
const recordsPerPage = 100;

/** Yields the records of runs that ended at `sinceMs` or later, newest first. */
export async function* recordsSince(
  table: Table,
  s: ServiceKey,
  sinceMs: number,
): AsyncGenerator<StoredRecord> {
  const until = { to: sortKey(Math.max(0, sinceMs)) };
  for await (const { id, previous, r } of inPages(table, historyOf(s), recordsPerPage, until)) {
    if (typeof id !== 'number') continue;
    yield {
      id,
      previous: typeof previous === 'number' ? previous : undefined,
      text: r instanceof Uint8Array ? inflated(r) : undefined,
    };
  }
}

/** Maximum length of an inflated record, characters. It is several times `sync.historyBytes`. */
const maxTextLength = 1 << 20;

function inflated(bytes: Uint8Array): string | undefined {
  try {
    return inflateRawSync(bytes, { maxOutputLength: maxTextLength }).toString();
  } catch {
    return undefined;
  }
}
