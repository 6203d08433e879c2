/** The reads of a run. All begin at once, although the first one shows whether the others are needed. */
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { readTriggers, type StoredTriggers } from '#shared/store/triggers.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import type { SyncDeps } from './deps.ts';
import { type PrefetchedInputs, prefetchInputs, readServiceItems, type ServiceItems } from './inputs.ts';

export interface Prefetch {
  /** The reads that the admission needs. */
  readonly forAdmission: Promise<readonly [ClusterRecord | undefined, ServiceItems]>;
  /** A run that was requeued before reads its inputs after the admission. */
  readonly inputs: Promise<PrefetchedInputs | undefined>;
  /** Settles when no call is under way. A pending call would delay the next run if the function is frozen. */
  readonly ended: Promise<unknown>;
}

export function beginReads(deps: SyncDeps, { service, message }: Claim): Prefetch {
  const forAdmission = allToEnd([readCluster(deps.table, service.cluster), readServiceItems(deps, service)]);
  const inputs = message.requeues ? Promise.resolve(undefined) : prefetchInputs(deps, service);
  return { forAdmission, inputs, ended: Promise.allSettled([forAdmission, inputs]) };
}

/** Reads the trigger times, which are on the work item or in items that it names. */
export function beginTriggers(deps: SyncDeps, { service, item }: Claim): Promise<StoredTriggers> {
  const triggers = readTriggers(deps.table, service, item.triggers);
  triggers.catch(() => {});
  return triggers;
}
