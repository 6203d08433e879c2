/** After a switch of mode every service is woken once (protocol.md 7). Repeated until it is done, whoever began it. */
import { metaKey } from '#shared/snapshot/keys.ts';
import type { ClusterMeta } from '#shared/snapshot/meta.ts';
import { isAlive, namespacesInRange, readObjects } from '#shared/snapshot/objects.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import { sendWakeUps } from '#shared/wakeup/wake-ups.ts';
import type { SweepDeps } from './deps.ts';

export async function wakeAll(deps: Pick<SweepDeps, 'table' | 'queues' | 'now' | 'log'>, meta: ClusterMeta): Promise<number> {
  const namespaces = await namespacesInRange(deps.table, meta.id, '', '');
  const services = (await concurrently(8, namespaces, (ns) => readObjects(deps.table, meta.id, 'Service', ns))).flat().filter(isAlive);
  const wakeUps = services.map(({ namespace, name }) => ({ namespace, service: name, delaySeconds: 0, live: true, seen: undefined }));
  await sendWakeUps(deps.table, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps, deps.now());
  // Another switch since then owes a waking of its own.
  await deps.table.update(metaKey(meta.id), { set: { wakeAll: 0 } }, { attribute: 'epoch', is: '=', value: meta.epoch });
  deps.log.info('every service woken', { cluster: meta.id, services: wakeUps.length, mode: meta.mode });
  return wakeUps.length;
}
