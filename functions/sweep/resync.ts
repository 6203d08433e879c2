/**
 * Every service is run again twice a day, as upstream's informers do once in 12 to 24 hours (G-10), against outputs read from the cluster: the net
 * under all else, a message that was lost for good included. A round passes the services in the order of their keys, so many a minute that it takes
 * most of its period; where it has got to is kept in the table, so no run reads more than its share of the index of namespaces.
 */
import { hash } from 'node:crypto';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { resyncKey } from '#shared/store/keys.ts';
import { isAlive } from '#shared/store/objects.ts';
import { entriesPerPage, type Place, walkServices } from '#shared/store/service-walk.ts';
import { sendWakeUps } from '#shared/workqueue/add.ts';
import type { SweepDeps } from './deps.ts';

/** `passed`: services, and pages of the index. `total`: of the round before; 0 where there was none. */
interface Round {
  readonly number: number;
  readonly passed: number;
  readonly total: number;
  /** Undefined: at the beginning. */
  readonly place?: Place | undefined;
  readonly done: boolean;
}

/** A round takes this share of its period, so that it ends within it although there may be more to pass than the last time. */
const paceShare = 0.9;

export async function resync(deps: SweepDeps, meta: ClusterRecord): Promise<void> {
  const key = resyncKey(meta.id);
  const { resyncMinutes, mostResync } = limitsOf(deps).sweep;
  const minute = Math.floor(deps.now() / 60_000) + phaseOf(meta.id, resyncMinutes);
  const number = Math.floor(minute / resyncMinutes);
  const save = (round: Round): Promise<unknown> => deps.table.put({ ...key, round: JSON.stringify(round) });
  const kept = (await deps.table.get(key))?.['round'];
  // All that a new cluster has was just computed: its first round is the next.
  if (typeof kept !== 'string') return void (await save({ number, passed: 0, total: 0, done: true }));
  const round = roundAt(number, JSON.parse(kept) as Round);
  const due = round.done ? 0 : dueNow(deps, round, number, minute % resyncMinutes);
  if (due <= 0) return;
  const walked = await walkServices(
    deps.table,
    meta.id,
    round.place,
    { services: due, entries: Math.min(mostResync, due * entriesPerPage) },
    deps.now(),
  );
  const wakeUps = walked.services
    .filter(isAlive)
    .map(({ namespace, name }) => ({ namespace, service: name, delaySeconds: 0, live: true, seen: undefined }));
  await sendWakeUps(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps);
  const passed = round.passed + walked.services.length + Math.ceil(walked.entries / entriesPerPage);
  await save({ ...round, passed, place: walked.place, done: walked.place === undefined });
}

/** A round that is not done when its period is over goes on. */
const roundAt = (number: number, kept: Round): Round =>
  kept.done && kept.number < number ? { number, passed: 0, total: kept.passed, done: false } : kept;

function dueNow(deps: SweepDeps, { number, passed, total }: Round, current: number, minute: number): number {
  const { resyncMinutes, firstResync, leastResync, mostResync } = limitsOf(deps).sweep;
  const pace = total > 0 ? total / (paceShare * resyncMinutes) : firstResync;
  const most = Math.max(mostResync, 2 * Math.ceil(pace));
  if (number < current) return most;
  const due = Math.min(most, Math.ceil(pace * (minute + 1)) - passed);
  return due < Math.min(leastResync, total / 20) ? 0 : due;
}

/** Clusters of one make are of one size: their id spreads when their rounds begin. */
const phaseOf = (cluster: string, minutes: number): number => hash('sha256', cluster, 'buffer').readUInt32BE(0) % minutes;
