/**
 * Lives through the faults of a set of clusters, lets it settle, and holds every importer against the merge
 * of what is exported.
 */
import { readCluster } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns, servesFromSnapshot, writesAnything } from '#shared/clusters/writer/mode.ts';
import { memberWakeUps } from '#shared/clusterset/wake-ups/member-wake-ups.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { decodeWork } from '#shared/workqueue/item-attributes.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import { wasLeftBehind } from '#test/worlds/simulation/promises/left-behind.ts';
import type { WorldOptions } from '#test/worlds/simulation/world/world.ts';
import type { DrawnSet } from './draw.ts';
import { tenantErrors } from './exporting-tenant.ts';
import { ghostsOf } from './ghosts.ts';
import { hidesRestore, setErrors } from './set-truth.ts';
import { SetWorld } from './set-world.ts';

export async function simulateSet(
  drawn: DrawnSet,
  options: WorldOptions,
): Promise<{ readonly failures: readonly string[]; readonly settledMs: number }> {
  const world = new SetWorld(drawn, options);
  let settledMs = 0;
  try {
    await world.liveThroughFaults();
    await settle(world, 'the last fault');
    settledMs = world.scheduler.now - world.faultsEnd;
    if (world.failures.length === 0) await checkAtRest(world);
  } catch (e) {
    world.fail(`the simulation broke: ${e instanceof Error ? e.stack : String(e)}`);
  }
  world.close();
  return { failures: world.failures, settledMs };
}

/** A world that has failed may never come to rest, and its pending work is no further failure. */
async function checkAtRest(world: SetWorld): Promise<void> {
  await listForGhosts(world);
  await listPastLostHistory(world);
  if (world.failures.length > 0) return;
  await checkClean(world, false);
  for (const error of [...(await setErrors(world, false)), ...(await tenantErrors(world))])
    world.fail(`at rest: ${error}`);
  if (world.failures.length > 0) return;
  await resync(world);
  await settle(world, 'the resync');
  if (world.failures.length > 0) return;
  await checkClean(world, true);
  for (const error of await setErrors(world, true)) world.fail(`after a resync: ${error}`);
}

/**
 * Ingest may stand still between its read of the fence and its write, while a list passes
 * (docs/develop/architecture.md, "Not guaranteed"): the next one mends it.
 */
async function listForGhosts(world: SetWorld): Promise<void> {
  if (world.profile.pauses + world.profile.slow === 0) return;
  const ghosts = await ghostsOf(world);
  if (ghosts.length === 0) return;
  world.tell('world', `the next lists: ${ghosts.join('; ')}`);
  for (const { relays } of world.present) relays.relist();
  await settle(world, 'the next lists');
}

/**
 * The hub may have taken a restore for none, because the relay that had noticed it ended. What it believes of
 * the lost history counts until a list of a later version (docs/develop/architecture.md, "Not guaranteed").
 */
async function listPastLostHistory(world: SetWorld): Promise<void> {
  for (const member of world.present.filter((m) => m.isRestoreUnsaid)) {
    const { cluster, store, relays, lostRevision } = member;
    if (!(await hidesRestore(world, member))) continue;
    world.tell('world', `the history of ${cluster} passes the lost one, and the next lists come`);
    store.resourceVersion = Math.max(store.resourceVersion, lostRevision);
    relays.relist();
    await settle(world, 'the lists past the lost history');
  }
}

const settleMs = 180_000;
const verifiedMs = 300_000;
const stepMs = 6_000;
/** A cluster is asked once a minute for kinds that it does not have, and sweep goes round once a minute. */
const minMs = { uninstalls: 66_000, departs: 250_000 };

async function settle(world: SetWorld, after: string): Promise<void> {
  const { scheduler, set } = world;
  const from = scheduler.now;
  let quietSince = Number.POSITIVE_INFINITY;
  let versions = '';
  if (after === 'the last fault') {
    if (set.uninstalls) await scheduler.runUntil(from + minMs.uninstalls);
    if (set.departs) await scheduler.runUntil(from + minMs.departs);
    // Changes of a silent or doubtful cluster are applied when the source is fresh again.
    if (set.switches > 0 || set.restores || set.burns) await scheduler.runUntil(scheduler.now + 130_000);
  }
  const begun = scheduler.now;
  for (;;) {
    await scheduler.runUntil(scheduler.now + stepMs);
    if (world.failures.length > 0) return;
    const now = world.present.map((m) => m.store.resourceVersion).join();
    const idle = world.isIdle() && now === versions && !(await owesWork(world));
    versions = now;
    if (!idle) quietSince = Number.POSITIVE_INFINITY;
    else if (quietSince === Number.POSITIVE_INFINITY) quietSince = scheduler.now;
    else return;
    const limit =
      Math.max(begun, Math.min(world.prescribedUntil, from + 1_500_000)) +
      (set.restores ? verifiedMs : settleMs);
    if (scheduler.now <= limit) continue;
    const waiting = world.present.flatMap(({ queues }) =>
      [
        ...queues.syncs.messages.values(),
        ...queues.events.messages.values(),
        ...queues.parked.messages.values(),
      ].map((m) => m.body.slice(0, 300)),
    );
    world.fail(
      `not at rest ${Math.round((scheduler.now - from) / 1000)} s after ${after}: ${waiting.join('; ')}`,
    );
    return;
  }
}

/**
 * Sweep, or the next heartbeat, still has something to do: a list of a cluster whose snapshot decides about
 * traffic, wake-ups, or to believe a source again.
 */
async function owesWork({ table, present }: SetWorld): Promise<boolean> {
  const records = await Promise.all(present.map((m) => readCluster(table, m.cluster)));
  return records.some(
    (r) =>
      r !== undefined &&
      ((r.lists.ownListsWanted.length > 0 && (servesFromSnapshot(r) || writesAnything(r))) ||
        r.modeSwitch.wakesPending ||
        (hasRuns(r) &&
          (r.source !== undefined || (r.lists.suppressesWakeUps && missingFirstLists(r).length === 0)))),
  );
}

async function checkClean(world: SetWorld, resynced: boolean): Promise<void> {
  const left = new Set(world.members.filter((m) => m.hasLeft || m.isHostile).map((m) => m.cluster));
  for (const item of await world.table.items()) {
    const isOf = (cluster: string): boolean =>
      (item.pk.startsWith('SET#') && item.sk.endsWith(`#E#${cluster}`)) || isExportedBy(item, cluster);
    if (world.members.some((m) => m.hasLeft && isOf(m.cluster)))
      world.fail(`${item.pk} still has ${item.sk}, which has left`);
    if (!item.pk.includes('#WORK#') || left.has(parseWorkKey(item.pk).cluster)) continue;
    const work = decodeWork(parseWorkKey(item.pk).kind, item);
    const isExcused = !resynced && wasLeftBehind(world.monitor.raisedBy.get(item.pk), work.generation);
    if (!isClean(work) && !isExcused) world.fail(`work is dirty: ${item.pk} ${JSON.stringify(work)}`);
  }
  checkQueues(world);
}

function checkQueues(world: SetWorld): void {
  for (const { queues, cluster } of world.present) {
    for (const q of [queues.events, queues.syncs])
      for (const m of q.dead)
        world.fail(`${cluster}: dead letter in ${q.options.name}: ${m.body.slice(0, 300)}`);
    for (const q of [queues.quarantine, queues.parked])
      for (const m of q.messages.values())
        world.fail(`${cluster}: in ${q.options.name}: ${m.body.slice(0, 300)}`);
  }
}

const isExportedBy = ({ pk }: { readonly pk: string }, cluster: string): boolean =>
  pk.startsWith('EXPORTED#') && pk.endsWith(`#${cluster}`);

async function resync(world: SetWorld): Promise<void> {
  const { table, scheduler } = world;
  for (const { cluster, queues } of world.present) {
    const record = await readCluster(table, cluster);
    if (!record) continue;
    const send = async (
      messages: readonly { readonly body: string; readonly delaySeconds?: number }[],
    ): Promise<void> => {
      for (const m of messages) queues.syncs.add(m);
    };
    const wakeUps = [
      ...(await memberWakeUps(table, record, { isResync: true })),
      ...(await overdue(world, cluster)),
    ];
    await addWork({ table, now: () => scheduler.now }, { send }, cluster, wakeUps);
  }
}

/** Returns the pending work that sweep would find after a while. */
async function overdue({ table }: SetWorld, cluster: string): Promise<readonly WakeUp[]> {
  return (await table.items()).flatMap((item): WakeUp[] => {
    if (!item.pk.startsWith(`${cluster}#WORK#`) || isClean(decodeWork(parseWorkKey(item.pk).kind, item)))
      return [];
    const { namespace, kind, name } = parseWorkKey(item.pk);
    return [wakeNow(namespace, name, kind)];
  });
}
