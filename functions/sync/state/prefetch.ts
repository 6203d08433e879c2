/**
 * The reads of a run. They begin before it is known whether the run is admitted, and for new work beside the claim, before the lease is there.
 *
 * Reads that began before the claim count if the claim's generation is the wake-up's own, and neither controller has had a run for it
 * (`isFirstRunFor`). A wake-up names its generation only where that met no lease (shared/workqueue/add.ts). So no run was under way when the
 * generation was added, and one that began after it would have covered it, and said so. None has ended since, then: what the holder of the
 * lease alone writes is as it was, and no input is older than what a run before has used. What the generation is for was written before the
 * wake-up was sent.
 */
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readTriggers, type StoredTriggers } from '#shared/store/triggers.ts';
import { isFirstRunFor, latestGeneration } from '#shared/workqueue/rules/item.ts';
import { isNewWork } from '#shared/workqueue/rules/message.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import type { SyncDeps } from './deps.ts';
import { type Ahead, admittedScope, type CarriedOver, readAhead, readServiceItems, type ServiceItems } from './inputs.ts';

export interface Reads {
  readonly record: Promise<readonly [ClusterRecord | undefined, ServiceItems]>;
  readonly ahead: Promise<Ahead | undefined>;
  /** Settles when no call is under way: a call that is when the function is frozen would hold up the next run. */
  readonly ended: Promise<unknown>;
}

/** At once, although the first of them shows whether the others are needed. */
function begin(deps: SyncDeps, service: ServiceKey, carriedOver: CarriedOver | undefined, isAhead: boolean): Reads {
  const record = Promise.all([readCluster(deps.table, service.cluster), readServiceItems(deps, service, carriedOver)]);
  const ahead = isAhead ? readAhead(deps, service, carriedOver) : Promise.resolve(undefined);
  return { record, ahead, ended: Promise.allSettled([record, ahead]) };
}

/** Beside the claim. Undefined: the reads had better wait for it, for this worker or this wake-up is not one that mostly gets the lease. */
export function beginBesideClaim(deps: SyncDeps, message: WakeUpMessage): Reads | undefined {
  if (!isNewWork(message) || message.generation === latestGeneration || message.notBeforeMs !== undefined) return undefined;
  if (admittedScope(deps, message.cluster) === undefined) return undefined;
  const service = { cluster: message.cluster, namespace: message.namespace, name: message.service };
  return begin(deps, service, undefined, true);
}

/** Of a run: those that began beside its claim, if they count, or else new ones. A run that was postponed before most likely is again. */
export const readsOf = (deps: SyncDeps, claim: Claim, carriedOver: CarriedOver | undefined, besideClaim: Reads | undefined): Reads =>
  besideClaim && !claim.wasTakenOver && isFirstRunFor(claim.message.generation, claim.item)
    ? besideClaim
    : begin(deps, claim.service, carriedOver, !claim.message.postponements);

/** Trigger times lie on the work item, or it says where. */
export function triggersOf(deps: SyncDeps, { service, item }: Claim): Promise<StoredTriggers> {
  const triggers = readTriggers(deps.table, service, item.triggers);
  triggers.catch(() => {});
  return triggers;
}
