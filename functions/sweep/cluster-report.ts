/** Publishes a cluster's ages and state, read from the table alone, before any step that can take long. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import type { WakeUp } from '#shared/workqueue/rules/message.ts';
import { findOverdue } from './overdue.ts';
import { publishStates } from './states.ts';
import type { SweepDeps } from './sweep-deps.ts';

/** Resolves to the wake-ups of the overdue services. */
export async function reportCluster(deps: SweepDeps, record: ClusterRecord): Promise<readonly WakeUp[]> {
  const cluster = record.id;
  try {
    deps.metrics.put(
      'ShadowDifferences',
      isShadow(record) ? await countDifferences(deps.table, cluster) : 0,
      { cluster },
    );
    const { overdue, oldestSeconds } = await findOverdue(deps, record);
    // A cluster that does not answer is behind by definition, and has an alarm of its own.
    deps.metrics.put('OldestDirtyAge', blockedBy(record) || !hasSynced(record) ? 0 : oldestSeconds, {
      cluster,
    });
    return overdue;
  } finally {
    publishStates(deps, record);
    deps.flush();
  }
}
