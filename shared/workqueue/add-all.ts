/** Adds every service once, in steps, after a switch of mode or the first lists. The cluster's record has the next position, in case a worker dies. */

import { isMember } from '#shared/clusters/clusterset-membership.ts';
import { recordWaking, wakingPlace } from '#shared/clusters/mode-switch.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isCanary } from '#shared/contract/canary.ts';
import { isAlive } from '#shared/store/objects.ts';
import { type PageBudget, type WalkPosition, walkServices } from '#shared/store/service-walk.ts';
import { addWork } from './add.ts';
import type { StageDeps } from './deps.ts';
import { memberWakeUps } from './member-wake-ups.ts';
import { wakeNow } from './rules/message.ts';

type AddAllDeps = Pick<StageDeps, 'table' | 'queues' | 'now' | 'log'>;

/** A step takes some tenths of a second. If the worker dies, the next worker repeats the step. */
const usualStep: PageBudget = { services: 500, entries: 5_000 };

export interface Added {
  /** Number of existing services. The step also wakes deleted services without counting them. */
  readonly services: number;
  /** Position of the next step. Undefined if every service is added, or if another switch adds them all again. */
  readonly place: WalkPosition | undefined;
}

/** Adds the services of one step. Deleted services are among them, because their Endpoints remain if they were deleted while the hub did not write. */
export async function addStep(deps: AddAllDeps, cluster: ClusterRecord, from: WalkPosition | undefined, step = usualStep): Promise<Added> {
  const { services, place } = await walkServices({ table: deps.table, cluster: cluster.id }, from, step);
  const wakeUps = services.map(({ namespace, name }) => wakeNow(namespace, name));
  const ofSet = place || !isMember(cluster) ? [] : await memberWakeUps(deps.table, cluster);
  await addWork(deps, deps.queues(cluster.id, cluster.queues).syncs, cluster.id, [...wakeUps, ...ofSet]);
  const isRecorded = await recordWaking(deps.table, cluster, place);
  return { services: services.filter((s) => isAlive(s) && !isCanary(s.name)).length, place: isRecorded ? place : undefined };
}

/** Runs all remaining steps that begin before `untilMs`. Sweep runs the rest. */
export async function addAll(deps: AddAllDeps, cluster: ClusterRecord, step = usualStep, untilMs = Number.POSITIVE_INFINITY): Promise<number> {
  let total = 0;
  let place = wakingPlace<WalkPosition>(cluster.modeSwitch);
  do {
    const added = await addStep(deps, cluster, place, step);
    total += added.services;
    place = added.place;
  } while (place && deps.now() < untilMs);
  if (!place) deps.log.info('every service enqueued', { cluster: cluster.id, services: total, mode: cluster.mode });
  return total;
}
