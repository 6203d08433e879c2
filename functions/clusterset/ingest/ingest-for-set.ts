/** What ingest does for services across clusters. */

import type { BatchContext, MessageContext } from '#functions/ingest/batch/batch-context.ts';
import { derivedPrefix } from '#shared/clusterset/contract/clusterset-names.ts';
import { hasReturned } from '#shared/clusterset/imports/source-state.ts';
import {
  importsAnything,
  isMember,
  membershipOf,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveSource, sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { witnessOf } from '#shared/clusterset/membership/source-witness.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { importsManagedBy } from '#shared/kube/names.ts';
import { clustersetKinds, type InputKind } from '#shared/kube/types.ts';
import type { HeartbeatMessage, OutputEntry } from '#shared/queue/messages.ts';
import type { WakeUp } from '#shared/workqueue/rules/message.ts';
import { concernedByBatch } from './clusterset-wakes.ts';

async function onHeartbeat(context: MessageContext, message: HeartbeatMessage): Promise<void> {
  if (isMember(context.cluster) && message.readUpTo.Pod !== undefined) await returnAsSource(context);
}

/**
 * Enqueues the exports of a silent or evicted exporter after a heartbeat that shows it alive. Their runs wake
 * the importers. Sweep does the same within a minute, so nothing is lost if the batch ends here.
 */
async function returnAsSource({ deps, cluster, effects }: BatchContext): Promise<void> {
  const source = sourceOf(cluster);
  const nowMs = deps.now();
  if (!source || !hasReturned(source.state, witnessOf(cluster), nowMs)) return;
  if (!(await saveSource(deps.table, cluster, { state: 'fresh', sinceMs: nowMs, wokenUpTo: '' }))) return;
  for await (const { namespace, name } of exportsOfCluster(deps.table, membershipOf(cluster).set, cluster.id))
    effects.wake(namespace, name, { kind: 'export' });
}

function onSlice(context: MessageContext, seen: OutputEntry): boolean {
  const isImported = seen.managedBy === importsManagedBy;
  // A slice without the label of its derived Service serves nothing, also if the managed-by label is gone
  // too.
  if (isImported || seen.formerService?.startsWith(derivedPrefix)) noteImportedSlice(context, seen);
  return isImported;
}

/**
 * Wakes the import of a slice that another client changed or deleted. A deletion of ours wakes it in vain.
 * The wake-up is delayed, so that two competing writers alternate slowly.
 */
function noteImportedSlice({ deps, cluster, effects }: MessageContext, seen: OutputEntry): void {
  const { namespace, service, formerService, isOwnWrite, deleted } = seen;
  if (isOwnWrite || !importsAnything(cluster)) return;
  if (!deleted) deps.metrics.put('ForeignWrites', 1, { cluster: cluster.id });
  for (const derived of new Set([service, formerService]))
    if (derived) effects.importedSlices.push({ namespace, derived });
}

const onBatch = async (batch: BatchContext, woken: readonly WakeUp[]): Promise<readonly WakeUp[]> =>
  mayTakePartInSet(batch) ? concernedByBatch(batch, woken) : [];

/** The record may predate the switch that lets the cluster into a set; objects of a set show it. */
const mayTakePartInSet = ({ cluster, effects }: BatchContext): boolean =>
  isMember(cluster) || effects.pending.some(({ kind }) => setKinds.has(kind));

const setKinds: ReadonlySet<InputKind> = new Set(clustersetKinds);

export const ingestForSet = { onHeartbeat, onSlice, onBatch };
