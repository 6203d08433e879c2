/** After a switch of mode every service is woken once, in steps: one that dies is followed by one that goes on where it was. */

import { recordWaking, wakingPlace } from '#shared/clusters/mode-switch.ts';
import type { ClusterRecord, QueueUrls } from '#shared/clusters/record.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import { type Place, type Step, walkServices } from '#shared/store/service-walk.ts';
import type { Table } from '#shared/store/table.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { addWork } from './add.ts';
import { wakeNow } from './rules/message.ts';

export interface WakeAllDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly now: () => number;
  readonly log: Log;
}

/** Some tenths of a second of a worker, and what is done twice if it dies. */
const usualStep: Step = { services: 500, entries: 5_000 };

export interface Woken {
  readonly services: number;
  /** Where the next step begins; undefined: every service is woken, or another switch since then owes a waking of its own. */
  readonly place: Place | undefined;
}

/** One step. Deleted services too: what went while nothing was written left its Endpoints behind. */
export async function wakeSome(deps: WakeAllDeps, meta: ClusterRecord, from: Place | undefined, step = usualStep): Promise<Woken> {
  const { services, place } = await walkServices({ table: deps.table, cluster: meta.id }, from, step, deps.now());
  const wakeUps = services.map(({ namespace, name }) => wakeNow(namespace, name));
  await addWork(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps);
  const isRecorded = await recordWaking(deps.table, meta, place);
  return { services: wakeUps.length, place: isRecorded ? place : undefined };
}

/** All that is left. */
export async function wakeAll(deps: WakeAllDeps, meta: ClusterRecord, step = usualStep): Promise<number> {
  let total = 0;
  let place = wakingPlace<Place>(meta.modeSwitch);
  do {
    const woken = await wakeSome(deps, meta, place, step);
    total += woken.services;
    place = woken.place;
  } while (place);
  deps.log.info('every service woken', { cluster: meta.id, services: total, mode: meta.mode });
  return total;
}
