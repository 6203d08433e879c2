/** How a cluster is: read from the table alone, and told before anything that could take long. */

import { hasSynced } from '#shared/clusters/first-lists.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { blockedBy } from '#shared/clusters/writer-conflict.ts';
import { countDifferences } from '#shared/store/differences.ts';
import type { WakeUp } from '#shared/workqueue/add.ts';
import type { SweepDeps } from './deps.ts';
import { lookForOverdue } from './overdue.ts';
import { publishStates } from './states.ts';

/** A cluster as it was told of, and its services that have to be woken again. */
export interface Told {
  readonly id: string;
  readonly meta: ClusterRecord;
  readonly overdue: readonly WakeUp[];
}

export async function tell(deps: SweepDeps, meta: ClusterRecord): Promise<Told> {
  const cluster = meta.id;
  try {
    deps.metrics.put('ShadowDifferences', meta.mode === 'shadow' ? await countDifferences(deps.table, cluster) : 0, { cluster });
    const { overdue, oldestSeconds } = await lookForOverdue(deps, meta);
    // A cluster that can't be asked is behind by definition, and has an alarm of its own.
    deps.metrics.put('OldestDirtyAge', blockedBy(meta) || !hasSynced(meta) ? 0 : oldestSeconds, { cluster });
    return { id: cluster, meta, overdue };
  } finally {
    publishStates(deps, meta);
    deps.flush();
  }
}
