/**
 * Pages and fences of lists (docs/develop/architecture.md, "List"). They prevent a late message from restoring an
 * object that a newer list does not contain.
 */
import type { Kind } from '#shared/kube/types.ts';
import type { ClusterStore } from '../cluster-store.ts';
import { fenceKey, listKey } from '../keys.ts';
import { absentOr, type Item, numberIn, type Table, textIn } from '../table.ts';
import { noVersion, type Version } from '../version.ts';

/** Returns the newest list version whose application has begun. */
export async function readFence(table: Table, cluster: string, kind: Kind): Promise<Version> {
  return textIn(await table.get(fenceKey(cluster, kind)), 'fence') ?? noVersion;
}

/** Raises the fence to `version`. The fence never falls. */
export async function raiseFence(table: Table, cluster: string, kind: Kind, version: Version): Promise<void> {
  await table.update(fenceKey(cluster, kind), { set: { fence: version } }, absentOr('fence', '<', version));
}

/**
 * Marks a page as applied. Resolves to true once all pages of the list are applied. The pages are a set,
 * because a duplicate must not count twice.
 */
export async function markPartApplied(
  { table, cluster }: ClusterStore,
  {
    kind,
    listId,
    partNumber,
    isLast,
  }: { readonly kind: Kind; readonly listId: string; readonly partNumber: number; readonly isLast?: true },
  expiresAtSeconds: number,
): Promise<boolean> {
  const item = await table.update(listKey(cluster, kind, listId), {
    add: { parts: new Set([partNumber]) },
    set: { ttl: expiresAtSeconds, ...(isLast && { n: partNumber + 1 }) },
  });
  const { parts, number } = decodeParts(item);
  return number !== undefined && parts === number;
}

/** The number of applied pages, and of all, which the last page tells. */
function decodeParts(item: Item | undefined): {
  readonly parts: number;
  readonly number: number | undefined;
} {
  const applied = item?.['parts'];
  return { parts: applied instanceof Set ? applied.size : 0, number: numberIn(item, 'n') };
}
