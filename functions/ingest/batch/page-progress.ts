/** Marks pages of lists as applied. The last page also marks a first list. */
import { markFirstListApplied } from '#shared/clusters/relay/first-lists.ts';
import type { InputListPart, OutputListPart } from '#shared/queue/events.ts';
import { markPartApplied, readFence } from '#shared/store/inputs/lists.ts';
import type { Version } from '#shared/store/version.ts';
import type { MessageContext } from './batch-context.ts';

/**
 * Time for which the applied pages of a list are stored, s: as long as SQS keeps the list's other messages in
 * an outage.
 */
const listTtlSeconds = 4 * 24 * 3600;

/**
 * Marks a page as applied, after its pending wake-ups are sent. After the last page of the first lists, syncs
 * of the cluster may run.
 */
export type MarkApplied = () => Promise<void>;

/**
 * Marks the page only if no newer list has begun. The newer list's fence may have refused entries of this
 * one, and the first lists would count as complete without these objects.
 */
export async function markApplied(
  context: MessageContext,
  part: InputListPart | OutputListPart,
  version: Version,
): Promise<void> {
  const { deps, store, incarnation } = context;
  if ((await readFence(store.table, store.cluster, part.kind)) !== version) return;
  const expiresAtSeconds = Math.floor(deps.now() / 1000) + listTtlSeconds;
  const isComplete = await markPartApplied(store, part, expiresAtSeconds);
  if (isComplete)
    await markFirstListApplied(store.table, { id: store.cluster, incarnation }, part.kind, version);
}
