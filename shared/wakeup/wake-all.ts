/** After a switch of mode every service is woken once. Repeated until it is done, whoever began it. */

import { concurrently } from '#shared/queue/concurrently.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import { metaKey } from '#shared/snapshot/keys.ts';
import type { ClusterMeta, QueueUrls } from '#shared/snapshot/meta.ts';
import { namespacesInRange, readObjects } from '#shared/snapshot/objects.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { sendWakeUps } from './wake-ups.ts';

export interface WakeAllDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly now: () => number;
  readonly log: Log;
}

export async function wakeAll(deps: WakeAllDeps, meta: ClusterMeta): Promise<number> {
  const namespaces = await namespacesInRange(deps.table, meta.id, 'Service', '', '');
  // Deleted ones too: what went while nothing was written left its Endpoints behind.
  const services = (await concurrently(8, namespaces, (ns) => readObjects(deps.table, meta.id, 'Service', ns.name))).flat();
  const wakeUps = services.map(({ namespace, name }) => ({ namespace, service: name, delaySeconds: 0, live: true, seen: undefined }));
  await sendWakeUps(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps);
  // Another switch since then owes a waking of its own.
  await deps.table.update(metaKey(meta.id), { set: { wakeAll: 0 } }, { attribute: 'epoch', is: '=', value: meta.epoch });
  deps.log.info('every service woken', { cluster: meta.id, services: wakeUps.length, mode: meta.mode });
  return wakeUps.length;
}
