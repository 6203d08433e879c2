/**
 * The reads of a run. They begin before the admission, and for new work at the same time as the claim of the
 * lease.
 *
 * Reads that began before the claim count if the claim has the wake-up's generation and neither controller
 * has run for it (`isFirstRunFor`). A wake-up names its generation only if no lease was held when it was
 * added (shared/workqueue/add.ts). A run that began later would have covered that generation, and the item
 * would show it. Therefore no run has ended since: records of the lease holder are unchanged, and no input is
 * older than an earlier run's. The change that caused the generation was written before the wake-up was sent.
 */
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { allToEnd } from '#shared/concurrently.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readTriggers, type StoredTriggers } from '#shared/store/triggers.ts';
import { isFirstRunFor } from '#shared/workqueue/rules/item.ts';
import { isNewWork } from '#shared/workqueue/rules/message.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import type { SyncDeps } from './deps.ts';
import { type PrefetchedInputs, prefetchInputs, readServiceItems, type ServiceItems } from './inputs.ts';
import { admittedScope } from './kept-nodes.ts';

export interface Prefetch {
  /** The reads that the admission needs. */
  readonly forAdmission: Promise<readonly [ClusterRecord | undefined, ServiceItems]>;
  readonly inputs: Promise<PrefetchedInputs | undefined>;
  /** Settles when no call is under way. A pending call would delay the next run if the function is frozen. */
  readonly ended: Promise<unknown>;
}

/** Begins all reads at once, although the first one shows whether the others are needed. */
function begin(deps: SyncDeps, service: ServiceKey, withInputs: boolean): Prefetch {
  const forAdmission = allToEnd([readCluster(deps.table, service.cluster), readServiceItems(deps, service)]);
  const inputs = withInputs ? prefetchInputs(deps, service) : Promise.resolve(undefined);
  return { forAdmission, inputs, ended: Promise.allSettled([forAdmission, inputs]) };
}

/**
 * Begins reads at the same time as the claim. Returns undefined if the claim is unlikely to succeed: a cold
 * worker, a retry, or a wake-up for a lease's end.
 */
export function prefetchDuringClaim(deps: SyncDeps, message: WakeUpMessage): Prefetch | undefined {
  if (!isNewWork(message) || message.generation === 'latest' || message.notBeforeMs !== undefined)
    return undefined;
  if (admittedScope(deps, message.cluster) === undefined) return undefined;
  return begin(deps, message, true);
}

/**
 * Returns the reads that began with the claim if they count, or else new reads. A run that was requeued
 * before reads its inputs after the admission.
 */
export const prefetchOf = (deps: SyncDeps, claim: Claim, duringClaim: Prefetch | undefined): Prefetch =>
  duringClaim && !claim.wasTakenOver && isFirstRunFor(claim.message.generation, claim.item)
    ? duringClaim
    : begin(deps, claim.service, !claim.message.requeues);

/** Reads the trigger times, which are on the work item or in items that it names. */
export function prefetchedTriggers(deps: SyncDeps, { service, item }: Claim): Promise<StoredTriggers> {
  const triggers = readTriggers(deps.table, service, item.triggers);
  triggers.catch(() => {});
  return triggers;
}
