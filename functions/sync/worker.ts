/**
 * A wake-up is handled: claim, META and inputs (strong), write with preconditions, prove the lease, save, done (docs/architecture.md,
 * "Invariants"). A message is gone only when what it stands for is done or another message stands for it.
 */
import { ClusterApiError, isBrokenConnection, isClusterFault, isWithoutCredentials } from '#shared/cluster/errors.ts';
import { circuitSeconds, longestCircuitSeconds } from '#shared/clusters/circuit.ts';
import { hasSynced } from '#shared/clusters/first-lists.ts';
import { type ClusterRecord, nameWriter, readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { SyncMessage } from '#shared/queue/messages.ts';
import { saveCounts } from '#shared/store/counts.ts';
import { saveHints } from '#shared/store/hints.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { forgetOutputs, saveOutput } from '#shared/store/outputs.ts';
import { saveTriggers } from '#shared/store/triggers.ts';
import { freshWakeUp } from '#shared/workqueue/add.ts';
import { claim, prove, readWork, settle, settleAndRenew, settleClean } from '#shared/workqueue/item-store.ts';
import { gateSeconds, longestGateSeconds } from '#shared/workqueue/rules/backoff.ts';
import { isLeased, partsToRun, type WorkItem, type WorkPart, workParts } from '#shared/workqueue/rules/item.ts';
import { NotNow, type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { bounce } from './bounce.ts';
import { closedCircuit, faultOf, openedCircuit, passCircuit, withoutCredentials } from './cluster-failures.ts';
import type { SyncDeps, SyncLimits } from './deps.ts';
import { runEndpoints } from './endpoints-part.ts';
import { countForeign } from './foreign-writes.ts';
import { type Known, load, readFacts } from './load.ts';
import { observeSync } from './metrics.ts';
import { type RunResult, report, tellParked } from './report.ts';
import type { Run } from './run.ts';
import { Saves } from './server-state.ts';
import { delayed, settleParts } from './settle.ts';
import { compare } from './shadow.ts';
import { runSlices } from './slices-part.ts';
import { timeLeft } from './time-left.ts';

/** True: the message is handled and can go. False: it has to come back. `deadline`: when this worker is stopped, ms since the epoch. */
export async function syncMessage(deps: SyncDeps, limits: SyncLimits, message: SyncMessage, deadline: number): Promise<boolean> {
  const key: ServiceKey = { cluster: message.cluster, namespace: message.ns, name: message.service };
  const { syncs } = deps.queues(key.cluster, undefined);
  if (message.notBefore !== undefined && message.notBefore > deps.now()) {
    await syncs.send([delayed(message, (message.notBefore - deps.now()) / 1000, deps.now())]);
    return true;
  }
  for (;;) {
    const work = await readWork(deps.table, key);
    const parts = partsToRun(message, work);
    if (parts.length === 0) return true;
    const now = deps.now();
    if (work.lease && isLeased(work, now)) {
      await bounce(deps, key, message, parts, work.lease.until, now);
      return true;
    }
    const lease = { id: deps.newLeaseId(), now: deps.now(), until: deps.now() + limits.leaseMs };
    const claimed = await claim(deps.table, key, work, parts, lease);
    if (claimed) return hold(deps, limits, key, message, parts, { ...claimed, leaseId: lease.id }, deadline);
  }
}

interface Held {
  readonly leaseId: string;
  readonly work: WorkItem;
  readonly takenOver: boolean;
  /** What a run before under this lease has left: nobody else writes while it is held, so they need not be read again. */
  readonly known?: Known | undefined;
}

/** Runs under the lease until nothing is owed, or for as long as the limits allow: a change during a run waits for no second message. */
async function hold(
  deps: SyncDeps,
  limits: SyncLimits,
  key: ServiceKey,
  message: SyncMessage,
  firstParts: readonly WorkPart[],
  first: Held,
  deadline: number,
): Promise<boolean> {
  const started = deps.now();
  if (message.due !== undefined) deps.metrics.put('QueueLatency', Math.max(0, started - message.due), { cluster: key.cluster });
  let held = first;
  let parts = firstParts;
  for (let runs = 1; ; runs++) {
    const captured = held.work.gen;
    const began = deps.now();
    const result = await runOnce(deps, limits, key, message, parts, held, deadline);
    if (result === 'lost') {
      deps.log.warn('lease lost during a run', { ...key });
      return false;
    }
    const now = deps.now();
    const { syncs, parked, events, quarantine } = deps.queues(key.cluster, result.meta?.queues);
    const settled = await settleParts({ syncs, parked, events, quarantine }, message, held.work.parts, result.outcomes, captured, now);
    // When the relay saw what a later run is for, nobody has told.
    report(deps, key, runs === 1 ? message.seen : undefined, result, settled.parked, now - began);
    const settlement = { leaseId: held.leaseId, captured, before: held.work.parts, parts: settled.parts, triggers: result.triggers, now };
    if (settled.parked.length > 0) await tellParked(deps, result, settled.parked);

    const after = { ...held.work.parts, ...settled.parts };
    if (workParts.every((p) => after[p].done >= captured)) {
      if (!result.isBehind && (await settleClean(deps.table, key, settlement))) return true;
      const mayGoOn = runs < limits.maxRuns && now - started < limits.maxHoldMs && deadline - now > 2 * limits.reserveMs;
      if (mayGoOn) {
        const work = await settleAndRenew(deps.table, key, settlement, deps.now() + limits.leaseMs);
        if (!work) return false;
        held = { leaseId: held.leaseId, work, takenOver: false, known: result.known };
        parts = workParts.filter((p) => work.parts[p].done < work.gen);
        continue;
      }
    }
    const work = await settle(deps.table, key, settlement);
    if (!work) return false;
    // Whoever came for it meanwhile was sent away until the lease ends (bounce, sendWakeUps): that is for the case that this worker dies before
    // it sends.
    if (work.gen > captured) {
      const wakeUp = { namespace: key.namespace, service: key.name, delaySeconds: 0, live: false, seen: undefined };
      await syncs.send([{ body: encodeMessage(freshWakeUp(key.cluster, wakeUp, work.gen, deps.now())) }]);
    }
    return true;
  }
}

async function runOnce(
  deps: SyncDeps,
  limits: SyncLimits,
  key: ServiceKey,
  message: SyncMessage,
  parts: readonly WorkPart[],
  held: Held,
  deadline: number,
): Promise<RunResult | 'lost'> {
  const same = (outcome: Outcome) => new Map(parts.map((p) => [p, outcome] as const));
  const nothing = { saves: undefined, api: undefined, inputs: undefined, triggers: undefined };
  // All after the claim, and as one call: whether it is needed shows in the first of them.
  const [meta, facts] = await Promise.all([readCluster(deps.table, key.cluster), readFacts(deps, key, held.known)]);
  const rounds = Math.max(0, ...parts.map((p) => message.seq[p] ?? 0));
  // The switch back wakes every service, but nobody who has left only Endpoints behind (EP-70).
  const paused = meta?.mode === 'paused' || meta?.writerConflict;
  const waits = paused && !facts.serviceRecord;
  if (!meta || (!waits && (paused || (meta.mode !== 'active' && meta.mode !== 'shadow')))) return { ...nothing, meta, outcomes: same(ok) };
  try {
    if (waits) throw new NotNow('paused', circuitSeconds(rounds, deps.random()), longestCircuitSeconds);
    if (!hasSynced(meta)) throw new NotNow('first lists not complete', gateSeconds(Math.min(rounds, 10)), longestGateSeconds);
    if (meta.mode === 'shadow') {
      await compare(deps, meta, key, await load(deps, meta, key, held.work, facts, 'observed'));
      return { ...nothing, meta, outcomes: same(ok) };
    }
    await passCircuit(deps, meta, held.leaseId);
    const writer = meta.writer ?? (await nameWriter(deps.table, meta.id, deps.newLeaseId().slice(0, 8)));
    const left = timeLeft(deps, limits, deadline);
    const [api, brief] = [await deps.cluster({ ...meta, writer }, left.call), await deps.cluster({ ...meta, writer }, left.brief)];
    if (meta.circuit) {
      await api.identity();
      await closedCircuit(deps, meta);
    }
    const inputs = await load(deps, meta, key, held.work, facts, 'written', held.known?.outputs);
    const { counts } = facts;
    // A service that the snapshot has never seen may just be on its way, and then its own message wakes it (docs/parity.md D5).
    if (!inputs.serviceRecord && (await api.get('Service', key.namespace, key.name))) return { ...nothing, meta, outcomes: same(ok) };
    const run: Run = {
      deps,
      meta,
      key,
      api,
      brief,
      work: held.work,
      inputs,
      counts,
      live: held.takenOver,
      saves: new Saves(meta.incarnation, inputs.outputs),
      foreign: [],
      next: { triggers: inputs.triggers.triggers, hints: inputs.hints, counts },
      mayWrite: () => void left.call(),
    };
    const outcomes = new Map(await concurrently(2, parts, async (p) => [p, await runPart(run, p)] as const));
    const slices = outcomes.get('sl');
    if (slices && meta.settings.slices) observeSync(run, slices);
    return await save(run, held, outcomes);
  } catch (error) {
    return { ...nothing, meta, outcomes: same(await outcomeOf(deps, meta, error)) };
  }
}

async function runPart(run: Run, part: WorkPart): Promise<Outcome> {
  const { settings } = run.meta;
  if (part === 'ep' ? !settings.endpoints : !settings.slices) return ok;
  try {
    return await (part === 'ep' ? runEndpoints(run) : runSlices(run));
  } catch (error) {
    if (isBrokenConnection(error)) return (await faultOf(run, error)) ?? { kind: 'failed', error: String(error) };
    if (error instanceof NotNow || error instanceof ClusterApiError) return outcomeOf(run.deps, run.meta, error);
    // A fault of ours with this key's objects must not hold its lease and come back for ever: it is tried, then parked.
    run.deps.log.error('run failed unexpectedly', {
      ...run.key,
      part,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return { kind: 'failed', error: String(error) };
  }
}

/** Faults outside of a write: everything the cluster refuses us to read is the cluster's fault, not the key's. */
async function outcomeOf(deps: SyncDeps, meta: ClusterRecord, error: unknown): Promise<Outcome> {
  if (error instanceof NotNow)
    return { kind: 'not-now', reason: error.message, waitSeconds: error.waitSeconds, longestSeconds: error.longestSeconds };
  if (error instanceof ClusterApiError) {
    if (isWithoutCredentials(error)) return withoutCredentials(deps, error);
    return isClusterFault(error) || error.status === 403 ? openedCircuit(deps, meta, error) : { kind: 'failed', error: error.message };
  }
  throw error;
}

/** Proof, then save: whoever takes over after the proof reads live and sees our writes; if somebody did before it, their echo wakes the service. */
async function save(run: Run, held: Held, outcomes: ReadonlyMap<WorkPart, Outcome>): Promise<RunResult | 'lost'> {
  const { deps, key, saves, inputs, next } = run;
  let isBehind = false;
  if (saves.touched) {
    const proven = await prove(deps.table, key, held.leaseId);
    if (!proven) return 'lost';
    isBehind = proven.gen > held.work.gen;
    await concurrently(8, saves.unsaved, (record) => saveOutput(deps.table, key, record));
    // Each part by itself: the other may take long, and by then there may be a new service of that name.
    const done = [...outcomes].filter(([, o]) => o.kind === 'ok').map(([part]) => outputKindOf[part]);
    if (!inputs.service) await forgetOutputs(deps.table, key, done);
    await countForeign(run);
  }
  const text = await saveTriggers(deps.table, key, next.triggers, inputs.triggers, limitsOf(deps).sync);
  if (JSON.stringify(next.hints) !== JSON.stringify(inputs.hints)) await saveHints(deps.table, key, next.hints);
  await saveCounts(deps.table, key, next.counts, run.counts);
  const unchanged = text === (held.work.triggers ?? null);
  const isWhole = inputs.service && [...outcomes.values()].every((o) => o.kind === 'ok');
  const known = isWhole ? { outputs: saves.over(inputs.outputs), hints: next.hints, counts: next.counts } : undefined;
  return { meta: run.meta, outcomes, saves, api: run.brief, inputs, triggers: unchanged ? undefined : text, known, isBehind };
}

const outputKindOf = { ep: 'Endpoints', sl: 'EndpointSlice' } as const satisfies { readonly [P in WorkPart]: OutputKind };
