/**
 * One run of a service: the cluster's record and all inputs (strong reads, prefetch.ts), both controllers,
 * writes with preconditions, proof of the lease, save (docs/architecture.md, "Invariants").
 */
import { contestedUntilMs } from '#shared/clusters/contested-service.ts';
import { writesOptIn } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import { type Controller, isController, outputKindOf } from '#shared/kube/controllers.ts';
import { optInManagedBy } from '#shared/kube/names.ts';
import { isApiServersOwn } from '#shared/kube/services.ts';
import { forgetOutputs, readOutputs, saveOutputs } from '#shared/store/outputs.ts';
import { type ServiceCounts, saveCounts } from '#shared/store/service-counts.ts';
import { type StoredTriggers, saveTriggers } from '#shared/store/triggers.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { type Claim, isHeld } from '#shared/workqueue/take.ts';
import { type Applicant, admit, admitToWrite } from '../admission/admission.ts';
import { beginProbe, connect } from '../admission/circuit-breaker.ts';
import { outcomeOf } from '../admission/failure-outcome.ts';
import { lookAtEndpoints, runEndpoints } from '../controllers/endpoints-controller.ts';
import {
  concernsOptIn,
  hasOptInSlices,
  lookAtSlices,
  runWithOptIn,
} from '../controllers/opt-in-hand-over.ts';
import {
  isRefusedWhileOff,
  mayWithdraw,
  type TaskBeside,
  toldRefusal,
  withdrawalOf,
} from '../controllers/opt-in-off.ts';
import { compareWithCluster, savePreview } from '../controllers/shadow-compare.ts';
import { runSlices } from '../controllers/slices-controller.ts';
import { observeSync } from '../controllers/sync-metrics.ts';
import { countForeign, foreignAfter } from '../guards/foreign-writes.ts';
import { timeLeft } from '../state/deadline.ts';
import type { SyncDeps } from '../state/deps.ts';
import { type Inputs, isOursByOptIn, readInputs, type ServiceItems } from '../state/inputs.ts';
import { type Prefetch, prefetchedTriggers, prefetchOf } from '../state/prefetch.ts';
import type { StartedRun } from '../state/reconciler.ts';
import type { Run } from '../state/run.ts';
import type { RunResult } from '../state/run-result.ts';
import { ServerState } from '../state/server-state.ts';

export async function reconcileService(
  deps: SyncDeps,
  started: StartedRun,
): Promise<RunResult | 'lease-lost'> {
  const { claim } = started;
  const begun = { ...prefetchOf(deps, claim, started.prefetched), triggers: prefetchedTriggers(deps, claim) };
  try {
    return await runBy(begun, deps, started);
  } finally {
    // The run may have ended without some of the reads.
    await Promise.allSettled([begun.ended, begun.triggers]);
  }
}

interface BegunReads extends Prefetch {
  readonly triggers: Promise<StoredTriggers>;
}

async function runBy(
  begun: BegunReads,
  deps: SyncDeps,
  started: StartedRun,
): Promise<RunResult | 'lease-lost'> {
  const { claim } = started;
  const { service, parts } = claim;
  const { forAdmission, inputs: prefetched, triggers } = begun;
  const [cluster, items] = await forAdmission;
  const nothingDone = (outcome: Outcome): RunResult => ({
    cluster,
    queues: cluster?.queues,
    outcomes: new Map(parts.map((part) => [part, outcome])),
  });
  if (!cluster) return nothingDone(ok);
  const applicant = applicantOf(deps, claim, cluster, items);
  const admission = admit(cluster, applicant);
  if (admission.kind === 'skip') return { ...nothingDone(ok), heldBack: admission.reason };
  if (admission.kind === 'requeue') return nothingDone(admission.outcome);
  try {
    const toLoad = { cluster, key: service, triggers, items };
    const observed =
      admission.kind === 'compare' ? await readInputs(deps, { ...toLoad, source: 'observed' }) : undefined;
    const beside = observed && (await taskBeside(deps, cluster, started, observed));
    if (observed && beside?.to === 'compare') {
      // The tombstone was purged while this run was pending. A saved output would make the next list take the
      // Endpoints for current ones.
      if (!items.serviceRecord) await forgetOutputs(deps.table, service, ['Endpoints']);
      return {
        ...nothingDone(await compareWithCluster(deps, cluster, service, observed)),
        ...beside.forgotten,
      };
    }
    const toWrite = observed ? admitToWrite(cluster, applicant) : admission;
    if (toWrite.kind === 'requeue') return nothingDone(toWrite.outcome);
    if (toWrite.kind === 'probe') await beginProbe(deps, cluster, claim.leaseId);
    const run = await prepare(deps, cluster, started, {
      items,
      prefetched,
      triggers,
      observed: observed?.outputs,
    });
    if (!run) return nothingDone(ok);
    const outcomes = await runControllers(run, parts.filter(isController));
    const slices = outcomes.get('slices');
    // The built-in controllers write the Service, and the run has only deleted slices of ours.
    if (
      observed &&
      slices?.kind === 'ok' &&
      run.inputs.writers.slices.by === 'built-in' &&
      !hasOptInSlices(run)
    )
      outcomes.set('slices', await compareWithCluster(deps, cluster, service, observed));
    return await save(run, claim, outcomes);
  } catch (error) {
    const brief = {
      identity: async () =>
        (await deps.cluster(cluster, timeLeft(deps, started.deadlineMs).brief)).identity(),
    };
    const refused = isRefusedWhileOff(cluster, error) ? await toldRefusal(deps, service, error) : undefined;
    return nothingDone(
      refused ?? (await outcomeOf({ deps, cluster, rounds: applicant.rounds, brief }, error, 'read')),
    );
  }
}

const applicantOf = (
  { now, random, limits }: SyncDeps,
  { service, message }: StartedRun['claim'],
  cluster: ClusterRecord,
  { serviceRecord, counts }: ServiceItems,
): Applicant => ({
  isKnown: serviceRecord !== undefined,
  isApiServersOwn: isApiServersOwn(service.namespace, service.name),
  contestedUntilMs: contestedUntilMs(counts.foreign, cluster),
  rounds: message.requeues ?? 0,
  nowMs: now(),
  random,
  limits,
});

/**
 * With opt-in one after the other: the hand-over of slices may delete Endpoints that the other controller has
 * just read.
 */
async function runControllers(run: Run, toRun: readonly Controller[]): Promise<Map<Controller, Outcome>> {
  const atOnce = run.managedBy === optInManagedBy ? 1 : 2;
  const outcomes = new Map(
    await concurrently(atOnce, toRun, async (c) => [c, await runController(run, c)] as const),
  );
  const slices = outcomes.get('slices');
  if (slices && run.cluster.settings.slices) observeSync(run, slices);
  return outcomes;
}

/**
 * In a shadow cluster: Services that opt in are written all the same, and what was written of them is
 * deleted.
 */
async function taskBeside(
  deps: SyncDeps,
  cluster: ClusterRecord,
  { claim }: StartedRun,
  observed: Inputs,
): Promise<TaskBeside> {
  const isOn = writesOptIn(cluster);
  if (!claim.parts.includes('slices') || !(isOn || mayWithdraw(deps, cluster))) return { to: 'compare' };
  const written = await readOutputs(deps.table, claim.service);
  if (!isOn)
    return withdrawalOf(deps, { key: claim.service, incarnation: cluster.incarnation }, observed, written);
  return { to: concernsOptIn(observed, written, { ...claim, cluster }) ? 'write' : 'compare' };
}

/** Resolves to undefined if the snapshot does not have the Service yet. Its own event will wake it. */
async function prepare(
  deps: SyncDeps,
  cluster: ClusterRecord,
  { claim, deadlineMs }: StartedRun,
  read: {
    readonly items: ServiceItems;
    readonly prefetched: Prefetch['inputs'];
    readonly triggers: Promise<StoredTriggers>;
    readonly observed: Run['observed'];
  },
): Promise<Run | undefined> {
  const { items, observed } = read;
  const { service } = claim;
  const left = timeLeft(deps, deadlineMs);
  const { api, named } = await connect(deps, cluster, left.call);
  const brief = await deps.cluster(named, left.brief);
  const inputs = await readInputs(deps, {
    ...{ cluster, key: service, triggers: read.triggers, items, source: 'written' },
    prefetched: await read.prefetched,
  });
  const { counts } = items;
  // A service that the snapshot has never seen may just be on its way, and then its own message wakes it
  // (docs/parity.md D5).
  if (!inputs.serviceRecord && (await api.get('Service', service.namespace, service.name))) return undefined;
  return {
    deps,
    cluster,
    key: service,
    api,
    brief,
    work: claim.item,
    rounds: claim.message.requeues ?? 0,
    inputs,
    observed,
    managedBy: inputs.writers.slices.as,
    counts,
    wasTakenOver: claim.wasTakenOver,
    server: new ServerState(cluster.incarnation, inputs.outputs, deps.now),
    foreignWrites: [],
    notes: [],
    nextTrackers: { triggers: inputs.triggers.triggers, hints: counts.hints, gauges: counts.gauges },
  };
}

async function runController(run: Run, controller: Controller): Promise<Outcome> {
  const { inputs, cluster } = run;
  const { task } = inputs.writers[controller];
  const isSlices = controller === 'slices';
  // The preview of a Service that is gone is forgotten.
  if (isSlices && cluster.optIn === 'shadow' && (task === 'preview' || !inputs.service))
    await savePreview(run.deps, cluster, run.key, inputs);
  try {
    if (isSlices && (writesOptIn(cluster) || inputs.outputs.some(isOursByOptIn)))
      return await runWithOptIn(run);
    if (task === 'write') return await (isSlices ? runSlices(run) : runEndpoints(run));
    return await look(run, controller);
  } catch (error) {
    if (isRefusedWhileOff(cluster, error)) return toldRefusal(run.deps, run.key, error);
    return outcomeOf(run, error, 'read', { ...run.key, controller });
  }
}

/**
 * Reads outputs that the run does not write, if the saved ones may be outdated: the run counts as having read
 * them, and a later run relies on them. Outputs of controllers that the hub does not run are not its own.
 */
async function look(run: Run, controller: Controller): Promise<Outcome> {
  if (run.cluster.mode !== 'active' || !run.cluster.settings[controller]) return ok;
  await (controller === 'slices' ? lookAtSlices(run, [run.managedBy]) : lookAtEndpoints(run));
  return ok;
}

/**
 * Saves outputs only while the lease is held. A worker that takes the lease over after this check reads from
 * the API server and sees our writes. A worker that took it over before is woken by their events. A run that
 * neither wrote nor read from the API server skips the check.
 */
async function save(
  run: Run,
  claim: Claim,
  outcomes: ReadonlyMap<Controller, Outcome>,
): Promise<RunResult | 'lease-lost'> {
  const { deps, key, server, inputs, nextTrackers: next } = run;
  let isSaved = true;
  const counts: ServiceCounts = { gauges: next.gauges, foreign: foreignAfter(run), hints: next.hints };
  if (server.needsLeaseCheck) {
    if (!isHeld(deps, claim)) return 'lease-lost';
    const toSave = { bodies: inputs.bodies, changed: server.unsaved };
    [isSaved] = await allToEnd([
      saveOutputs(deps.table, key, toSave, deps.limits.sync),
      saveCounts(deps.table, key, counts, run.counts),
    ]);
    // Each controller by itself: the other may take long, and by then there may be a new service of that
    // name.
    const done = [...outcomes].filter(([, o]) => o.kind === 'ok').map(([c]) => outputKindOf[c]);
    if (!inputs.service) await forgetOutputs(deps.table, key, done);
    await countForeign(run, counts.foreign);
  } else await saveCounts(deps.table, key, counts, run.counts);
  const text = await saveTriggers(
    deps.table,
    key,
    { next: next.triggers, stored: inputs.triggers },
    deps.limits.sync,
  );
  const unchanged = text === (claim.item.triggers ?? null);
  const written = { server, api: run.brief, inputs, notes: run.notes, isUnsaved: !isSaved };
  return {
    cluster: run.cluster,
    queues: run.cluster.queues,
    outcomes,
    ...written,
    triggers: unchanged ? undefined : text,
  };
}
