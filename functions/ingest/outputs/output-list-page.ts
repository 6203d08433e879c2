/**
 * Applies a page of a list of an output kind: it wakes the services whose outputs differ from the outputs
 * that sync has saved.
 */
import { concurrently } from '#shared/concurrently.ts';
import type { OutputListPart } from '#shared/queue/events.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import { raiseFence } from '#shared/store/inputs/lists.ts';
import { isAlive, readObject } from '#shared/store/inputs/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { type MarkApplied, markApplied } from '../batch/page-progress.ts';
import type { MessageProgress } from '../batch/redelivery.ts';
import { applyObserved } from './observed-outputs.ts';
import { unlistedOutputs } from './unlisted-outputs.ts';

/** A later run of the message continues after the progress of the former run, which the message carries. */
export async function applyOutputPart(
  context: MessageContext,
  part: OutputListPart,
  progress: MessageProgress,
): Promise<MarkApplied> {
  const { deps, cluster, store, incarnation } = context;
  const { outputsPerStep } = deps.limits.ingest;
  const version = versionOf(incarnation, part.asOf);
  await raiseFence(store.table, store.cluster, part.kind, version);
  const isFirstList = part.kind === 'Endpoints' && cluster.lists.firstListOf.Endpoints !== incarnation;
  for (let i = part.progress?.entries ?? 0; i < part.entries.length; i += outputsPerStep) {
    const entries = part.entries.slice(i, i + outputsPerStep);
    await applyObserved(context, { ...part, entries }, version);
    if (isFirstList) await wakeLeftovers(context, entries);
    progress.part = { entries: i + entries.length };
  }
  for await (const { entries, upTo } of unlistedOutputs(context, part, version)) {
    await applyObserved(context, { ...part, entries }, version);
    progress.part = { entries: part.entries.length, services: upTo };
  }
  return () => markApplied(context, part, version);
}

/**
 * Wakes Endpoints without a Service, whose run deletes them, as upstream does at its start (EP-70). Endpoints
 * with a leader-election record stay.
 */
async function wakeLeftovers(
  { store, effects }: MessageContext,
  entries: readonly OutputEntry[],
): Promise<void> {
  await concurrently(16, entries, async (e) => {
    if (e.leader || isAlive(await readObject(store, 'Service', e.namespace, e.name))) return;
    effects.wake(e.namespace, e.name, { readFromApiServer: true });
  });
}
