/** Marks parts of lists as applied; with the last part of a first list, the first list. */
import { markFirstListApplied } from '#shared/clusters/first-lists.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import type { InputListPart, OutputListPart } from '#shared/queue/events.ts';
import { markPartApplied, readFence } from '#shared/store/lists.ts';
import type { Version } from '#shared/store/version.ts';
import type { MessageContext } from './batch-context.ts';

/** Marks a part as applied, once all that it left pending is sent. The last part of a first list opens the cluster to syncs. */
export type MarkApplied = () => Promise<void>;

/**
 * Only if no newer list has begun: its fence may have refused entries of this one, so that live objects are missing, and the first lists would count as
 * complete without them.
 */
export async function markApplied(context: MessageContext, part: InputListPart | OutputListPart, version: Version): Promise<void> {
  const { deps, store, incarnation } = context;
  if ((await readFence(store.table, store.cluster, part.kind)) !== version) return;
  const expiresAtSeconds = Math.floor(deps.now() / 1000) + limitsOf(deps).ingest.listTtlSeconds;
  const isComplete = await markPartApplied(store, part, expiresAtSeconds);
  if (isComplete) await markFirstListApplied(store.table, { id: store.cluster, incarnation }, part.kind, version);
}
