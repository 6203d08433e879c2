/**
 * Resync: every service is synced twice a day against outputs read from the cluster, as upstream's informers
 * resync once in 12 to 24 hours (G-10). It is the safety net under all other mechanisms, for instance for a
 * message that was lost for good. A round walks the services in key order, at a pace that takes most of its
 * period. Its position is kept in the table, so that a run reads only its share of the index of namespaces.
 */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { bucketOf } from '#shared/kube/hash.ts';
import { entriesPerPage, type WalkPosition, walkServices } from '#shared/store/inputs/service-walk.ts';
import { resyncKey } from '#shared/store/keys.ts';
import { jsonIn } from '#shared/store/table.ts';
import { moreWakeUps } from '#shared/wing.ts';
import { addEach } from '#shared/workqueue/add.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import type { SweepDeps } from './sweep-deps.ts';

/**
 * `passed` counts services and pages of the index; `total` is `passed` of the former round, 0 before the
 * first one.
 */
interface Round {
  /** When the round begins, ms since the epoch. */
  readonly sinceMs: number;
  readonly passed: number;
  readonly total: number;
  /** Undefined at the beginning of the round. */
  readonly place?: WalkPosition | undefined;
}

/**
 * A round is paced to take this share of its period, so that it ends in time although the cluster may have
 * grown since the last one.
 */
const paceShare = 0.9;

const minuteMs = 60_000;

export async function resync(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const key = resyncKey(cluster.id);
  const { resyncMinutes, maxResync } = deps.limits.sweep;
  const periodMs = resyncMinutes * minuteMs;
  const save = (next: Round): Promise<unknown> => deps.table.put({ ...key, walk: JSON.stringify(next) });
  const round = jsonIn<Round>(await deps.table.get(key), 'walk');
  // A new cluster's services have just been synced. Many clusters of a fleet have the same size: the ids
  // spread the beginnings of their rounds.
  if (!round)
    return void (await save({ sinceMs: deps.now() + bucketOf(cluster.id, periodMs), passed: 0, total: 0 }));
  const due = dueNow(deps, round);
  if (due <= 0) return;
  const step = { services: due, entries: Math.min(maxResync, due * entriesPerPage) };
  const walked = await walkServices({ table: deps.table, cluster: cluster.id }, round.place, step);
  const wakeUps = walked.services
    .filter((s) => s.isAlive)
    .map(({ namespace, name }) => wakeNow(namespace, name));
  const others = await concurrently(1, walked.place ? [] : moreWakeUps, (more) =>
    more(deps.table, cluster, { isResync: true }),
  );
  const { failure } = await addEach(deps, deps.queues(cluster.id, cluster.queues).syncs, cluster.id, [
    ...wakeUps,
    ...others.flat(),
  ]);
  const passed = round.passed + walked.services.length + Math.ceil(walked.entries / entriesPerPage);
  const next = { sinceMs: Math.max(deps.now(), round.sinceMs + periodMs), passed: 0, total: passed };
  await save(walked.place ? { ...round, passed, place: walked.place } : next);
  // The next round is soon enough for a service that the table has refused.
  if (failure) throw failure;
}

function dueNow(deps: SweepDeps, { sinceMs, passed, total }: Round): number {
  const { resyncMinutes, firstResync, minResync, maxResync } = deps.limits.sweep;
  const minute = Math.floor((deps.now() - sinceMs) / minuteMs);
  if (minute < 0) return 0;
  const pace = total > 0 ? total / (paceShare * resyncMinutes) : firstResync;
  const most = Math.max(maxResync, 2 * Math.ceil(pace));
  if (minute >= resyncMinutes) return most;
  const due = Math.min(most, Math.ceil(pace * (minute + 1)) - passed);
  return due < Math.min(minResync, total / 20) ? 0 : due;
}
