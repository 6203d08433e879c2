/**
 * The history of outputs that other clients write: an item for each state that changed an address, newest
 * first by version. The table's TTL deletes them.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { OutputKind } from '#shared/kube/types.ts';
import { observedOf, type ServiceKey } from '../keys.ts';
import type { Table } from '../table.ts';
import type { Version } from '../version.ts';

export interface ObservedItem {
  readonly version: Version;
  readonly kind: OutputKind;
  readonly name: string;
  readonly isDeleted: boolean;
  /** Text of the record (history/observed-record.ts). */
  readonly text: string;
}

/** Versions have equally many digits, or begin with a smaller length: the complement of each counts down. */
const sortKey = ({ version, kind, name, isDeleted }: Omit<ObservedItem, 'text'>): string =>
  [version.replace(/\d/g, (d) => String(9 - Number(d))), kind, name, isDeleted ? 0 : 1].join('#');

const dayInSeconds = 86_400;

/** A message that comes again writes the same item. */
export async function saveObservedRecord(
  table: Table,
  s: ServiceKey,
  item: ObservedItem,
  { atMs, days }: { readonly atMs: number; readonly days: number },
): Promise<void> {
  const ttl = Math.ceil(atMs / 1000) + days * dayInSeconds;
  await table.put({ pk: observedOf(s), sk: sortKey(item), r: deflateRawSync(item.text), ttl });
}

const maxTextLength = 1 << 20;

/** Returns the texts of the newest records, newest first. */
export async function readObservedTexts(
  table: Table,
  s: ServiceKey,
  atMost: number,
): Promise<readonly string[]> {
  const items = await table.query(observedOf(s), { atMost });
  return items.flatMap(({ r }) => {
    try {
      return r instanceof Uint8Array
        ? [inflateRawSync(r, { maxOutputLength: maxTextLength }).toString()]
        : [];
    } catch {
      return [];
    }
  });
}
