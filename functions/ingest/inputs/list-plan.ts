/** The changes that a page of a list makes to the records of its key range. Pure. */
import { isAlive, type ObjectRecord } from '#shared/store/objects.ts';
import type { Version } from '#shared/store/version.ts';
import type { VersionedEntry } from './object-plan.ts';

export interface PagePlan {
  /** Each entry of the part, with the record that is stored of its object. */
  readonly write: readonly { readonly entry: VersionedEntry; readonly record: ObjectRecord | undefined }[];
  /** Objects that were deleted before the list was made: stored as older than it, and not among its entries. */
  readonly tombstone: readonly ObjectRecord[];
  /** Records of other objects whose services are still to be notified: an earlier batch wrote them and crashed. */
  readonly pending: readonly ObjectRecord[];
  /** Tombstones that may be purged once they are old enough: the list's fence now refuses what they refused. */
  readonly redundant: readonly ObjectRecord[];
  /** Stored objects of the key range, tombstones not counted. */
  readonly alive: number;
}

/** `stored`: the records of the key range by "namespace/name". `version`: the list's. */
export function planPage(stored: ReadonlyMap<string, ObjectRecord>, entries: readonly VersionedEntry[], version: Version): PagePlan {
  const listed = new Set(entries.map(nameKey));
  const unlisted = [...stored].filter(([key]) => !listed.has(key)).map(([, record]) => record);
  const wasDeleted = (r: ObjectRecord): boolean => isAlive(r) && r.version < version;
  return {
    write: entries.map((entry) => ({ entry, record: stored.get(nameKey(entry)) })),
    tombstone: unlisted.filter(wasDeleted),
    pending: unlisted.filter((r) => r.unnotifiedLabels && !wasDeleted(r)),
    redundant: unlisted.filter((r) => !isAlive(r) && !r.unnotifiedLabels && r.version <= version),
    alive: [...stored.values()].filter(isAlive).length,
  };
}

/** Returns true if the page would delete very much. Then the relay has probably lost its rights, or the API server its data. */
export function isSuspicious(
  { tombstone, alive }: Pick<PagePlan, 'tombstone' | 'alive'>,
  { suspiciousCount, suspiciousShare }: { readonly suspiciousCount: number; readonly suspiciousShare: number },
): boolean {
  return tombstone.length > suspiciousCount && tombstone.length > suspiciousShare * alive;
}

export const nameKey = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string => `${namespace}/${name}`;
