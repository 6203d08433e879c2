import { readCluster } from '#shared/clusters/record.ts';
import { hasSynced, missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { areZonesChanged } from '#shared/clusters/zones-away.ts';
import { labelServiceName, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { listDifferences, readDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Item } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { decodeWork } from '#shared/workqueue/item-attributes.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { wakeUp } from '#shared/workqueue/rules/message.ts';
import { drawSet } from '#test/clusterset/simulation/draw.ts';
import { simulateSet } from '#test/clusterset/simulation/simulate-set.ts';
import { isOfTenant } from './faults/large-tenant.ts';
import { cluster, isLiedTo, modeOf } from './faults/profile.ts';
import { comparedZone } from './faults/zones.ts';
import { historyErrors, mayLoseRecords } from './promises/history.ts';
import { wasLeftBehind } from './promises/left-behind.ts';
import type { Answers } from './promises/listed-then.ts';
import { differences, isUpstreamsOwn } from './promises/truth.ts';
import { World, type WorldOptions } from './world/world.ts';

export interface Outcome {
  readonly seed: number;
  /** Empty: everything held that is promised. */
  readonly failures: readonly string[];
  /** From the last fault until nothing was under way any more, virtual ms. */
  readonly settledMs: number;
  /** A list was needed to put the snapshot right (docs/develop/architecture.md, "Not guaranteed"). */
  readonly healedByList: boolean;
  /** Of `explain --at`. */
  readonly answers?: Answers;
  /** Answers of `explain` that were compared with the world before the last fault. */
  readonly explained?: number;
}

/** Lives through a seed's faults, lets the world settle, and holds it against what is promised. */
export async function simulate(options: WorldOptions): Promise<Outcome> {
  const { seed, mutant } = options;
  const drawnSet = drawSet(seed, { wanted: mutant?.set, calm: mutant !== undefined });
  if (drawnSet) return { seed, healedByList: false, ...(await simulateSet(drawnSet, options)) };
  const world = new World(options);
  let settledMs = 0;
  let healedByList = false;
  try {
    await world.liveThroughFaults();
    healedByList = await listForWhoDied(world);
    const isAtRest = await settle(world, 'the last fault');
    settledMs = world.scheduler.now - world.faultsEnd;
    if (isAtRest && (await checkAtRest(world))) healedByList = true;
  } catch (e) {
    world.fail(`the simulation broke: ${e instanceof Error ? e.stack : String(e)}`);
  }
  world.close();
  const { failures, listedThen, explainedNow } = world;
  const told = { answers: listedThen.answers, explained: explainedNow.looks };
  return { seed, failures, settledMs, healedByList, ...told };
}

/** Returns true if a list was needed. */
async function checkAtRest(world: World): Promise<boolean> {
  let healedByList = false;
  const wrong = await snapshotErrors(world);
  if (wrong.length > 0) {
    world.tell('world', `the snapshot is wrong until the next list: ${wrong.join('; ')}`);
    const known = wrong.every((w) => (w.startsWith('missing') ? world.abandoned : canHaveGhosts(world)));
    if (!known && !isLiedTo(world.profile)) world.fail(`the snapshot is wrong: ${wrong.join('; ')}`);
    healedByList = true;
    world.relist();
    if (!(await settle(world, 'the healing list'))) return healedByList;
    const still = await snapshotErrors(world);
    if (still.length > 0) world.fail(`the snapshot is still wrong after a list: ${still.join('; ')}`);
  }
  if ((await mayHaveMissedAList(world)) && differencesIn(world).length > 0) {
    healedByList = true;
    world.relist();
    if (!(await settle(world, 'the next list'))) return healedByList;
  }
  await checkClean(world, false);
  await checkCluster(world, false);
  await resync(world);
  if (!(await settle(world, 'the resync'))) return healedByList;
  world.monitor.finish();
  await checkClean(world, true);
  await checkCluster(world, true);
  for (const wrong of await checkComparison(world)) world.fail(wrong);
  for (const wrong of await world.listedThen.errors(world.table, cluster))
    world.fail(`explain --at: ${wrong}`);
  for (const wrong of await world.explainedNow.errors()) world.fail(`explain ${wrong}`);
  return healedByList;
}

/**
 * Lists again for faults that only the next list repairs: existing objects that a list lacked, and first
 * lists that stay incomplete. The latter occur if a relay died during its first list after it raised the
 * fence above another relay's list, which is then ignored.
 */
async function listForWhoDied(world: World): Promise<boolean> {
  if (!world.abandoned && !isLiedTo(world.profile)) return false;
  await world.scheduler.runUntil(world.faultsEnd + 70_000);
  const meta = await readCluster(world.table, cluster);
  if (!meta || (hasSynced(meta) && !isLiedTo(world.profile))) return false;
  world.tell('world', 'the next list');
  world.relist();
  return true;
}

/**
 * A list that takes much away is applied when sweep has made its own. And sweep wakes the services where the
 * worker that was to do it failed, or where the last of the first lists came while a session was not
 * verified.
 */
async function waitsForSweep({ table, store, scheduler, zonalShift }: World): Promise<boolean> {
  const meta = await readCluster(table, cluster);
  if (!meta || !hasRuns(meta)) return false;
  return (
    meta.lists.ownListsWanted.length > 0 ||
    meta.modeSwitch.wakesPending ||
    areZonesChanged(meta, scheduler.now) ||
    zonalShift?.isUnread(meta, store, scheduler.now) ||
    (meta.lists.suppressesWakeUps && missingFirstLists(meta).length === 0)
  );
}

const settleMs = 120_000;
/**
 * Messages of a session that sweep has to verify wait twice as long each time, the last of them for about as
 * long as the verification took.
 */
const verifiedMs = 300_000;
const stepMs = 6_000;

/**
 * Until nothing is under way and nothing has changed for a while. Returns false after a failure: the world
 * may never come to rest then, and its pending work is no further failure.
 */
async function settle(world: World, after: string): Promise<boolean> {
  const { scheduler, store } = world;
  const from = scheduler.now;
  let quietSince = Number.POSITIVE_INFINITY;
  let version = -1;
  for (;;) {
    await scheduler.runUntil(scheduler.now + stepMs);
    if (world.failures.length > 0) return false;
    // It will not come right, and may never come to rest.
    if (quarantined(world).length > 0) return true;
    const idle = world.isIdle() && store.resourceVersion === version && !(await waitsForSweep(world));
    version = store.resourceVersion;
    if (!idle) quietSince = Number.POSITIVE_INFINITY;
    else if (quietSince === Number.POSITIVE_INFINITY) quietSince = scheduler.now;
    else return true;
    const limit =
      Math.max(from, Math.min(world.prescribedUntil, from + 1_500_000)) +
      (world.profile.goesBack === 'never' ? settleMs : verifiedMs) +
      // Sweep finds a shift, and the return of a zone.
      (world.profile.zoneSwitches > 0 || world.zonalShift ? world.profile.sweepMs : 0);
    if (scheduler.now > limit) {
      // A Service that is not there any more is given slices, which the garbage collector takes away, and a
      // pod waits for a node: until the next list.
      if (canHaveGhosts(world) && (await snapshotErrors(world)).some((e) => e.startsWith('ghost')))
        return true;
      const waiting = [...world.queues.syncs.messages.values(), ...world.queues.events.messages.values()].map(
        (m) => m.body.slice(0, 300),
      );
      world.fail(
        `not at rest ${Math.round((scheduler.now - from) / 1000)} s after ${after}: ${waiting.join('; ')}`,
      );
      return false;
    }
  }
}

/**
 * Ingest may stand still between its read of the fence and its write, while a list passes
 * (docs/develop/architecture.md, "Not guaranteed").
 */
const canHaveGhosts = ({ profile }: World): boolean => profile.pauses + profile.slow > 0;

/**
 * Returns true if a list may have missed a change. A client may delete an unsaved output of a run, or its
 * namespace, without a watch event. A list before the save cannot miss the output, so only the next list
 * does. A false state of an existing pod may also arrive after a list with the true state.
 */
const mayHaveMissedAList = async (world: World): Promise<boolean> =>
  ((world.profile.foreignEdits > 0 || world.hasDeletedNamespace) && world.profile.relayKills > 0) ||
  world.profile.lies === 'ending' ||
  (await hasForgottenAService(world)) ||
  hasRelabelledSlice(world);

/**
 * It was deleted in shadow mode, where neither we nor others write, and the switch to active wakes the
 * Services that the hub has a record of.
 */
async function hasForgottenAService({ profile, store, table }: World): Promise<boolean> {
  if (profile.modeSwitches === 0 || profile.awayMode !== 'shadow' || profile.isBeside) return false;
  const known = new Set(
    (await table.items())
      .filter(({ pk }) => pk.includes('#SVC#'))
      .map(({ pk, sk }) => `${pk.split('#')[2]}/${sk}`),
  );
  const isForgotten = ({
    namespace = '',
    name,
  }: {
    readonly namespace?: string;
    readonly name: string;
  }): boolean => !known.has(`${namespace}/${name}`) && !store.find('Service', namespace, name);
  return store.list('Endpoints').some(({ metadata }) => isForgotten(metadata));
}

/**
 * Another client labelled a slice of ours for a Service that was gone. A run without a Service leaves slices
 * alone, and one came later with a selector.
 */
const hasRelabelledSlice = ({ profile, store }: World): boolean =>
  profile.isBeside &&
  store.list('EndpointSlice').some(({ metadata: { labels = {}, ownerReferences: [owner] = [] } }) => {
    return labels[labelSliceManagedBy] === optInManagedBy && owner?.name !== labels[labelServiceName];
  });

function differencesIn({ store, scheduler, zonalShift, profile }: World) {
  const { maxEndpointsPerSlice, optIn, cleanup } = profile;
  const away = zonalShift && { hub: zonalShift.hub(scheduler.now), eks: zonalShift.eks(scheduler.now) };
  return differences(store, maxEndpointsPerSlice, optIn, { cleanup, ...away });
}

/** Where the snapshot is not what the cluster holds. */
async function snapshotErrors(world: World): Promise<readonly string[]> {
  const wrong: string[] = [];
  const items = await world.table.items();
  for (const [partition, kind] of [
    ['#SVC#', 'Service'],
    ['#POD#', 'Pod'],
  ] as const) {
    const held = new Map<string, string>();
    for (const item of items) {
      const at = item.pk.indexOf(partition);
      if (at < 0 || item['o'] === undefined || isOfTenant(item.pk.slice(at + partition.length))) continue;
      held.set(`${item.pk.slice(at + partition.length)}/${item.sk}`, item['v'] as string);
    }
    for (const { metadata } of world.store.list(kind)) {
      if (isOfTenant(metadata.namespace)) continue;
      const key = `${metadata.namespace}/${metadata.name}`;
      if (!held.delete(key)) wrong.push(`missing: ${kind} ${key}`);
    }
    for (const key of held.keys()) wrong.push(`ghost: ${kind} ${key}`);
  }
  return wrong;
}

function checkWork(world: World, item: Item, resynced: boolean): void {
  const work = decodeWork(parseWorkKey(item.pk).kind, item);
  if (isClean(work)) {
    if (work.dirtyAtMs !== undefined)
      world.fail(`work is clean and still in the index of dirty work: ${item.pk}`);
  } else if (resynced || !wasLeftBehind(world.monitor.raisedBy.get(item.pk), work.generation))
    world.fail(`work is dirty: ${item.pk} ${JSON.stringify(work)}`);
}

async function checkClean(world: World, resynced: boolean): Promise<void> {
  for (const item of await world.table.items()) {
    if (item.pk.includes('#WORK#') && !isOfTenant(parseWorkKey(item.pk).namespace))
      checkWork(world, item, resynced);
    if (item['unnotified'] !== undefined) world.fail(`never announced: ${item.pk} ${item.sk}`);
  }
  // A worker that was paused past its lease may have saved deleted outputs, until the resync repairs them.
  if (resynced || world.profile.pauses === 0) {
    const wrong = await historyErrors(world.table, await world.table.items(), mayLoseRecords(world.profile));
    for (const text of wrong) world.fail(`history: ${text}`);
  }
  const { events, syncs, parked } = world.queues;
  for (const q of [events, syncs])
    for (const m of q.dead) world.fail(`dead letter in ${q.options.name}: ${m.body.slice(0, 300)}`);
  for (const m of parked.messages.values()) world.fail(`in parked: ${m.body.slice(0, 300)}`);
  for (const body of quarantined(world)) world.fail(`in quarantine: ${body.slice(0, 300)}`);
}

/**
 * Returns messages that should not be quarantined. Messages of a session that began just before its cluster
 * was created again, and was not bound by then, are rightly there, because their cluster no longer exists.
 */
function quarantined({ queues, profile }: World): readonly string[] {
  const isOfTheFormer = (body: string): boolean =>
    profile.goesBack === 'recreated' && /names the cluster with uid \S+ c is uid-of-the-new/.test(body);
  return [...queues.quarantine.messages.values()].map((m) => m.body).filter((body) => !isOfTheFormer(body));
}

/**
 * Services with an output that a run wrote in a history that was lost and saved, where the restore looked
 * like none (docs/develop/architecture.md, "Not guaranteed").
 */
async function writtenInLostHistory({ profile, store, table }: World): Promise<ReadonlySet<string>> {
  const incarnation = (await readCluster(table, cluster))?.incarnation;
  if (profile.goesBack !== 'restored' || incarnation === undefined) return new Set();
  const newest = versionOf(incarnation, String(store.resourceVersion));
  const saved = (await table.items()).filter(
    ({ pk, v, b }) => pk.includes('#OUT#') && b !== undefined && (v as string) > newest,
  );
  return new Set(saved.map(({ pk }) => pk.slice(pk.indexOf('#OUT#') + '#OUT#'.length)));
}

async function checkCluster(world: World, resynced: boolean): Promise<void> {
  const lost = await writtenInLostHistory(world);
  for (const { service, text } of differencesIn(world)) {
    if (lost.has(service)) continue;
    const [namespace = '', name = ''] = service.split('/');
    if (isOfTenant(namespace)) continue;
    const found = world.store.find('Service', namespace, name);
    if (!resynced && found && isUpstreamsOwn(world.store, found, world.monitor.isRestless)) continue;
    world.fail(
      `${resynced ? 'after a resync' : 'at rest'} the cluster is not what a live recomputation gives: ${text}`,
    );
  }
}

/** EKS takes a zone out earlier or later than the hub, and by its own rules: such differences do not count. */
async function checkComparison({ table, scheduler }: World): Promise<readonly string[]> {
  const { byShifts = [] } = (await readCluster(table, cluster))?.zones ?? {};
  const differ = await listDifferences(table, cluster);
  const texts = differ.map(async (service) => {
    const [namespace = '', name = ''] = service.split('/');
    const { text = '' } = (await readDifference(table, { cluster, namespace, name })) ?? {};
    const zone = comparedZone(text, byShifts, scheduler.now);
    return zone ? [`shadow mode compares ${zone}, the zone of a shift, for ${service}: ${text}`] : [];
  });
  return (await Promise.all(texts)).flat();
}

async function resync(world: World): Promise<void> {
  const meta = await readCluster(world.table, cluster);
  if (meta?.mode !== modeOf(world.profile) || meta.optIn !== world.profile.optIn)
    world.fail(`the cluster was left in mode ${meta?.mode}`);
  if (meta?.modeSwitch.wakesPending) world.fail('the last switch of mode was not finished');
  const services = new Set(
    world.store.list('Service').map((s) => `${s.metadata.namespace}/${s.metadata.name}`),
  );
  for (const { pk } of await world.table.items()) {
    if (!pk.includes('#WORK#')) continue;
    const { namespace, name: service } = parseWorkKey(pk);
    services.add(`${namespace}/${service}`);
  }
  const wakeUps = [...services].map((key) => {
    const [namespace = '', service = ''] = key.split('/');
    return wakeUp(namespace, service);
  });
  const syncs = {
    send: async (messages: readonly { readonly body: string }[]) => {
      for (const m of messages) world.queues.syncs.add(m);
    },
  };
  await addWork({ table: world.table, now: () => world.scheduler.now }, syncs, cluster, wakeUps);
}
