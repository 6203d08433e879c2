/**
 * Every service is run again twice a day, as upstream's informers do once in 12 to 24 hours (G-10), against outputs read from the cluster: the net
 * under all else, a message that was lost for good included. Namespace by namespace, so that no minute has them all.
 */
import { hash } from 'node:crypto';
import { limitsOf } from '#shared/contract/limits.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import type { ClusterMeta } from '#shared/snapshot/meta.ts';
import { isAlive, namespacesInRange, readObjects } from '#shared/snapshot/objects.ts';
import { sendWakeUps } from '#shared/wakeup/wake-ups.ts';
import type { SweepDeps } from './deps.ts';

export async function resync(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  // Sweep comes once a minute; one that it misses is made up for by the next round.
  const { resyncMinutes } = limitsOf(deps).sweep;
  const minute = Math.floor(deps.now() / 60_000) % resyncMinutes;
  const namespaces = await namespacesInRange(deps.table, meta.id, 'Service', '', '');
  const due = namespaces.filter((ns) => minuteOf(meta.id, ns.name, resyncMinutes) === minute);
  const services = (await concurrently(4, due, (ns) => readObjects(deps.table, meta.id, 'Service', ns.name))).flat().filter(isAlive);
  const wakeUps = services.map(({ namespace, name }) => ({ namespace, service: name, delaySeconds: 0, live: true, seen: undefined }));
  await sendWakeUps(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps);
}

/** Clusters of one make have the same namespaces: their id spreads them too. */
const minuteOf = (cluster: string, namespace: string, minutes: number): number =>
  hash('sha256', `${cluster}/${namespace}`, 'buffer').readUInt32BE(0) % minutes;
