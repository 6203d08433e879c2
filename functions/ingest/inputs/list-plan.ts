/** The changes that a page of a list makes to the records of its key range. Pure. */
import type { ObjectHead, ObjectRecord } from '#shared/store/inputs/objects.ts';
import type { Version } from '#shared/store/version.ts';
import type { VersionedEntry } from './object-plan.ts';

/**
 * A stored object of a page's key range. `record` is absent if the range has too much text to be read whole.
 */
export interface StoredObject extends ObjectHead {
  readonly record?: ObjectRecord;
}

export interface PagePlan {
  /** Each entry of the part, with what is stored of its object. */
  readonly write: readonly { readonly entry: VersionedEntry; readonly stored: StoredObject | undefined }[];
  /**
   * Objects that were deleted before the list was made: stored as older than it, and not among its entries.
   */
  readonly tombstone: readonly StoredObject[];
  /** Other objects whose services are still to be notified: an earlier batch wrote them and crashed. */
  readonly pending: readonly StoredObject[];
  /**
   * Tombstones that may be purged once they are old enough: the list's fence now refuses what they refused.
   */
  readonly redundant: readonly StoredObject[];
  /** Stored objects of the key range, tombstones not counted. */
  readonly alive: number;
}

/** `stored`: the objects of the key range by "namespace/name". `version`: the list's. */
export function planPage(
  stored: ReadonlyMap<string, StoredObject>,
  entries: readonly VersionedEntry[],
  version: Version,
): PagePlan {
  const listed = new Set(entries.map(nameKey));
  const unlisted = [...stored].filter(([key]) => !listed.has(key)).map(([, object]) => object);
  const wasDeleted = (o: StoredObject): boolean => o.isAlive && o.version < version;
  return {
    write: entries.map((entry) => ({ entry, stored: stored.get(nameKey(entry)) })),
    tombstone: unlisted.filter(wasDeleted),
    pending: unlisted.filter((o) => o.isPending && !wasDeleted(o)),
    redundant: unlisted.filter((o) => !o.isAlive && !o.isPending && o.version <= version),
    alive: [...stored.values()].filter((o) => o.isAlive).length,
  };
}

/**
 * Returns true if the page would delete very much. Then the relay has probably lost its rights, or the API
 * server its data.
 */
export function isSuspicious(
  { tombstone, alive }: Pick<PagePlan, 'tombstone' | 'alive'>,
  {
    suspiciousCount,
    suspiciousShare,
  }: { readonly suspiciousCount: number; readonly suspiciousShare: number },
): boolean {
  return tombstone.length > suspiciousCount && tombstone.length > suspiciousShare * alive;
}

export const nameKey = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;
