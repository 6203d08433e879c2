/**
 * Sweep does the periodic work: overdue work, the twice-daily resync, unfinished switches of mode, and
 * unverified sessions. It also makes own lists, checks permissions and credentials, and purges the
 * records of deregistered clusters.
 *
 * The ages of all clusters are published first, because alarms watch them. The other steps begin with another
 * cluster each minute and end in time even if clusters do not answer. The next run does the steps that did
 * not fit.
 */

import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import {
  hasRuns,
  isDeregistered,
  isShadow,
  servesFromSnapshot,
  writesAnything,
} from '#shared/clusters/writer/mode.ts';
import { isWalkPending, markWakesAfterFirstLists, wakingSoFar } from '#shared/clusters/writer/mode-switch.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { areZonesChanged, markWakesForZones } from '#shared/clusters/zones-away.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { trafficDistributions } from '#shared/contract/upstream-metrics.ts';
import type { WalkPosition } from '#shared/store/inputs/service-walk.ts';
import { totalGauges } from '#shared/store/outputs/service-counts.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import { addStep } from '#shared/workqueue/add-all.ts';
import type { WakeUp } from '#shared/workqueue/rules/message.ts';
import { checkCredentials, dueForCredentials } from './check-credentials.ts';
import { checkPermissions, dueForCheck } from './check-permissions.ts';
import { findOverdue, wakeOverdue } from './overdue.ts';
import { sendOwnLists } from './own-list.ts';
import { purgeRemoved } from './purge-removed.ts';
import { dueForShifts, publishZones, readShifts } from './read-zonal-shifts.ts';
import { resync } from './resync.ts';
import { publishStates } from './states.ts';
import { endAtMs, type SweepDeps } from './sweep-deps.ts';
import { askMs, rotated, SweepRun } from './sweep-run.ts';
import { verifySession } from './verify-session.ts';
import { sweepParts } from './wing.ts';

/** Time of a run for checking rights in clusters without writes, ms. */
const rightsMs = 20_000;

/**
 * Throws after the last step if a step failed or a cluster was not reported: the alarm SweepFails counts
 * failed runs.
 */
export async function sweep(deps: SweepDeps): Promise<void> {
  const run = new SweepRun(deps);
  const { records, overdue, deregistered, isWhole } = await reportAll(run);
  const ownListsSent = checkSessionsAndLists(run, records);
  // These steps run concurrently: some wait for the clusters' APIs, the others for the table and the queues.
  await allToEnd([
    ownListsSent,
    wakePending(run, records, overdue, lookAtShifts(run, records)),
    run.each('checkPermissions', dueForCheck(deps, records), (cluster) => checkPermissions(deps, cluster), {
      ms: rightsMs,
    }),
    ...sweepParts.map((part) => part.steps(run, { records, isWhole, ownListsSent })),
    run.each('checkCredentials', dueForCredentials(deps, records), (cluster) =>
      checkCredentials(deps, cluster),
    ),
  ]);
  // The purge is not urgent and gets the rest of the time.
  await run.each('purgeRemoved', deregistered, (cluster) => purgeRemoved(deps, cluster), { atOnce: 1 });
  if (run.failed.length > 0) throw new Error(`sweep could not finish: ${run.failed.join(', ')}`);
}

interface Reported {
  /** Registered clusters, including clusters whose report failed. */
  readonly records: readonly ClusterRecord[];
  /** By cluster. */
  readonly overdue: ReadonlyMap<string, readonly WakeUp[]>;
  readonly deregistered: readonly ClusterRecord[];
  /** False: not every record could be read. */
  readonly isWhole: boolean;
}

async function reportAll(run: SweepRun): Promise<Reported> {
  const { deps } = run;
  deps.metrics.put('Sweeps', 1);
  const clusters = rotated(await listClusters(deps.table), deps.now()).map((id) => ({ id }));
  const records: ClusterRecord[] = [];
  const overdue = new Map<string, readonly WakeUp[]>();
  const deregistered: ClusterRecord[] = [];
  let read = 0;
  const skipped = await run.each('reportCluster', clusters, async ({ id }) => {
    const record = await readCluster(deps.table, id);
    if (record) for (const part of sweepParts) part.check(record);
    read++;
    if (!record) return;
    // A deregistered cluster lacks queues and overdue work.
    if (isDeregistered(record)) return void deregistered.push(record);
    records.push(record);
    overdue.set(id, await reportCluster(deps, record));
  });
  if (skipped > 0) run.failed.push(`reportCluster of ${skipped} clusters, for want of time`);
  // A run without clusters writes a line too, because the alarm MetricsSilent watches sweep's lines.
  deps.log.info('clusters reported', { count: read });
  return { records, overdue, deregistered, isWhole: read === clusters.length };
}

async function checkSessionsAndLists(run: SweepRun, clusters: readonly ClusterRecord[]): Promise<void> {
  const { deps } = run;
  const unverified = clusters.filter((cluster) => cluster.unverified);
  await run.each('checkSessions', unverified, (cluster) => verifySession(deps, cluster), {
    ms: askMs,
  });
  // verifySession may just have requested lists. One cluster after the other: a list may take long, and much
  // memory.
  const candidates = clusters.filter(
    (cluster) => cluster.lists.ownListsWanted.length > 0 || cluster.unverified,
  );
  const sendWanted = async ({ id }: ClusterRecord): Promise<void> => {
    const cluster = await readCluster(deps.table, id);
    if (!cluster || isDeregistered(cluster) || cluster.lists.ownListsWanted.length === 0) return;
    if (servesFromSnapshot(cluster) || writesAnything(cluster)) await sendOwnLists(deps, cluster);
  };
  await run.each('sendOwnLists', candidates, sendWanted, { atOnce: 1 });
}

async function wakePending(
  run: SweepRun,
  records: readonly ClusterRecord[],
  overdue: Reported['overdue'],
  lookedAtShifts: Promise<readonly ClusterRecord[]>,
): Promise<void> {
  const { deps } = run;
  await run.each('wakePending', records, async (record) => {
    await run.attempt(record.id, 'resync', async () => {
      if (!isWalkPending(record.modeSwitch) && hasRuns(record)) await resync(deps, record);
    });
    await wakeOverdue(deps, record, overdue.get(record.id) ?? []);
  });
  const clusters = await oweWakes(run, await lookedAtShifts);
  await finishSwitches(
    run,
    clusters.filter(({ modeSwitch }) => modeSwitch.wakesPending),
  );
  if (deps.clusterMetrics === 'few') return;
  const active = clusters.filter(writesAnything);
  await run.each('publishGauges', active, ({ id }) => publishGauges(deps, id));
}

/** Time of a run for reading zonal shifts, ms. */
const shiftsMs = 10_000;

/** Never rejects. Resolves to the records as they are then. */
async function lookAtShifts(
  run: SweepRun,
  clusters: readonly ClusterRecord[],
): Promise<readonly ClusterRecord[]> {
  const { deps } = run;
  const read = new Map<string, ClusterRecord>();
  const look = async (cluster: ClusterRecord): Promise<void> => {
    const after = (await readShifts(deps, cluster)) ? await readCluster(deps.table, cluster.id) : undefined;
    if (after) read.set(cluster.id, after);
  };
  await run.each('readShifts', dueForShifts(deps, clusters), look, { ms: shiftsMs, atOnce: 16 });
  return clusters.map((cluster) => read.get(cluster.id) ?? cluster);
}

/**
 * The worker that applied the last of the first lists wakes every service, unless it died or had no time. At
 * the end of the time for which a zone is away nobody does.
 */
async function oweWakes(
  run: SweepRun,
  clusters: readonly ClusterRecord[],
): Promise<readonly ClusterRecord[]> {
  const owing = new Map<string, ClusterRecord>();
  const { table, now } = run.deps;
  const held = clusters.filter(({ lists }) => lists.suppressesWakeUps);
  await run.each('markWakesAfterFirstLists', held, async (cluster) => {
    const marked = await markWakesAfterFirstLists(table, cluster);
    if (marked) owing.set(cluster.id, marked);
  });
  const changed = clusters.filter((cluster) => areZonesChanged(cluster, now()));
  await run.each('markWakesForZones', changed, async (cluster) => {
    const isMarked = await markWakesForZones(table, owing.get(cluster.id) ?? cluster, now());
    const marked = isMarked ? await readCluster(table, cluster.id) : undefined;
    if (marked) owing.set(cluster.id, marked);
  });
  return clusters.map((c) => owing.get(c.id) ?? c);
}

/**
 * One step for each cluster in turn, so that a cluster with many services does not keep the others waiting.
 */
async function finishSwitches(run: SweepRun, clusters: readonly ClusterRecord[]): Promise<void> {
  const { deps } = run;
  let unfinished = clusters.map((record) => ({
    id: record.id,
    record,
    from: wakingSoFar<WalkPosition>(record.modeSwitch),
  }));
  while (unfinished.length > 0 && deps.now() < endAtMs(deps)) {
    const next: typeof unfinished = [];
    await run.each('finishSwitch', unfinished, async ({ id, record, from }) => {
      const { next: rest } = await addStep(deps, record, from);
      if (rest) next.push({ id, record, from: rest });
      else deps.log.info('every service enqueued', { cluster: id, mode: record.mode });
    });
    unfinished = next;
  }
}

/** Upstream's gauges (ME-3..5, ME-9), summed over the services of a cluster. */
async function publishGauges(deps: Pick<SweepDeps, 'table' | 'metrics'>, cluster: string): Promise<void> {
  const totals = await totalGauges(deps.table, cluster);
  deps.metrics.put('endpoint_slice_controller_endpoints_desired', totals.endpointsDesired, { cluster });
  deps.metrics.put('endpoint_slice_controller_num_endpoint_slices', totals.slicesActual, { cluster });
  deps.metrics.put('endpoint_slice_controller_desired_endpoint_slices', totals.slicesDesired, { cluster });
  for (const value of trafficDistributions) {
    deps.metrics.put(
      'endpoint_slice_controller_services_count_by_traffic_distribution',
      totals.services[value] ?? 0,
      {
        cluster,
        traffic_distribution: value,
      },
    );
  }
}

/**
 * Publishes a cluster's ages and state, read from the table alone. Resolves to the wake-ups of the overdue
 * services.
 */
async function reportCluster(deps: SweepDeps, record: ClusterRecord): Promise<readonly WakeUp[]> {
  const cluster = record.id;
  try {
    deps.metrics.put(
      'ShadowDifferences',
      isShadow(record) ? await countDifferences(deps.table, cluster) : 0,
      { cluster },
    );
    const { overdue, oldestSeconds } = await findOverdue(deps, record);
    // A cluster that does not answer is behind by definition, and has an alarm of its own.
    deps.metrics.put('OldestDirtyAge', blockedBy(record) || !hasSynced(record) ? 0 : oldestSeconds, {
      cluster,
    });
    return overdue;
  } finally {
    publishStates(deps, record);
    publishZones(deps, record);
    deps.flush();
  }
}
