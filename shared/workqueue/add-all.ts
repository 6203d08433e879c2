/** After a switch of mode, or the first lists, every service is added once, in steps. The record of the cluster says where the next step begins, should this worker die. */

import { isMember } from '#shared/clusters/clusterset-membership.ts';
import { recordWaking, wakingPlace } from '#shared/clusters/mode-switch.ts';
import type { ClusterRecord, QueueUrls } from '#shared/clusters/record.ts';
import { isCanary } from '#shared/contract/canary.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import { isAlive } from '#shared/store/objects.ts';
import { type Place, type Step, walkServices } from '#shared/store/service-walk.ts';
import type { Table } from '#shared/store/table.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { addWork } from './add.ts';
import { clustersetWakeUps } from './clusterset-wake-ups.ts';
import { wakeNow } from './rules/message.ts';

export interface AddAllDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly now: () => number;
  readonly log: Log;
}

/** Some tenths of a second of a worker; if it dies, the next worker repeats the step. */
const usualStep: Step = { services: 500, entries: 5_000 };

export interface Added {
  /** Existing services. The step also wakes deleted services, and does not count them. */
  readonly services: number;
  /** Where the next step begins; undefined: every service is added, or another switch since then adds them all again. */
  readonly place: Place | undefined;
}

/** One step. Deleted services too: one that was deleted while nothing was written left its Endpoints behind. */
export async function addStep(deps: AddAllDeps, meta: ClusterRecord, from: Place | undefined, step = usualStep): Promise<Added> {
  const { services, place } = await walkServices({ table: deps.table, cluster: meta.id }, from, step);
  const wakeUps = services.map(({ namespace, name }) => wakeNow(namespace, name));
  const ofSet = place || !isMember(meta) ? [] : await clustersetWakeUps(deps.table, meta);
  await addWork(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, [...wakeUps, ...ofSet]);
  const isRecorded = await recordWaking(deps.table, meta, place);
  return { services: services.filter((s) => isAlive(s) && !isCanary(s.name)).length, place: isRecorded ? place : undefined };
}

/** All steps that are left, or those that begin before `untilMs`: sweep takes the others. */
export async function addAll(deps: AddAllDeps, meta: ClusterRecord, step = usualStep, untilMs = Number.POSITIVE_INFINITY): Promise<number> {
  let total = 0;
  let place = wakingPlace<Place>(meta.modeSwitch);
  do {
    const added = await addStep(deps, meta, place, step);
    total += added.services;
    place = added.place;
  } while (place && deps.now() < untilMs);
  if (!place) deps.log.info('every service woken', { cluster: meta.id, services: total, mode: meta.mode });
  return total;
}
