/**
 * Adds every service once, in steps, after a switch of mode or the first lists. The cluster's record has the
 * next position, in case a worker dies.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { recordWaking, type Waking, wakingSoFar } from '#shared/clusters/writer/mode-switch.ts';
import { concurrently } from '#shared/concurrently.ts';
import { isCanary } from '#shared/contract/canary.ts';
import { type PageBudget, type WalkPosition, walkServices } from '#shared/store/inputs/service-walk.ts';
import { moreWakeUps } from '#shared/wing.ts';
import { addEach } from './add.ts';
import type { StageDeps } from './deps.ts';
import { wakeNow } from './rules/message.ts';

type AddAllDeps = Pick<StageDeps, 'table' | 'queues' | 'now' | 'log'>;

/** A step takes some tenths of a second. If the worker dies, the next worker repeats the step. */
const usualStep: PageBudget = { services: 500, entries: 5_000 };
/**
 * With more refused services it is no trouble of single items, and the step is repeated. Their names are kept
 * in the cluster's record, which each run reads.
 */
const maxRefused = 50;

export interface Step {
  /** Number of existing services. The step also wakes deleted services without counting them. */
  readonly services: number;
  /**
   * Where the next step begins. Undefined if every service is added, or if another switch adds them all
   * again.
   */
  readonly next: Waking<WalkPosition> | undefined;
}

/**
 * Adds the services of one step. Deleted services are among them, because their Endpoints remain if they were
 * deleted while the hub did not write. A service that the table refuses is tried again with the next step,
 * and holds back no other one. The last step rejects if any is left, for a later worker.
 */
export async function addStep(
  deps: AddAllDeps,
  cluster: ClusterRecord,
  from: Waking<WalkPosition> | undefined,
  step = usualStep,
): Promise<Step> {
  const again = (from?.refused ?? []).map(({ namespace, kind, name }) => wakeNow(namespace, name, kind));
  const isWalked = from !== undefined && from.place === undefined;
  const store = { table: deps.table, cluster: cluster.id };
  const { services, place } = isWalked
    ? { services: [], place: undefined }
    : await walkServices(store, from?.place, step);
  const wakeUps = services.map(({ namespace, name }) => wakeNow(namespace, name));
  const others = await concurrently(1, isWalked || place ? [] : moreWakeUps, (more) =>
    more(deps.table, cluster),
  );
  const { syncs } = deps.queues(cluster.id, cluster.queues);
  const { refused, failure } = await addEach(deps, syncs, cluster.id, [
    ...again,
    ...wakeUps,
    ...others.flat(),
  ]);
  if (refused.length > maxRefused) throw failure;
  const next = { place, refused: refused.map(({ namespace, kind, name }) => ({ namespace, kind, name })) };
  const isRecorded = await recordWaking(deps.table, cluster, next);
  if (failure && isRecorded && !place) throw failure;
  return {
    services: services.filter((s) => s.isAlive && !isCanary(s.name)).length,
    next: isRecorded && place ? next : undefined,
  };
}

/** Runs all remaining steps that begin before `untilMs`. Sweep runs the rest. */
export async function addAll(
  deps: AddAllDeps,
  cluster: ClusterRecord,
  step = usualStep,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<number> {
  let total = 0;
  let next = wakingSoFar<WalkPosition>(cluster.modeSwitch);
  do {
    const added = await addStep(deps, cluster, next, step);
    total += added.services;
    next = added.next;
  } while (next && deps.now() < untilMs);
  if (!next)
    deps.log.info('every service enqueued', { cluster: cluster.id, services: total, mode: cluster.mode });
  return total;
}
