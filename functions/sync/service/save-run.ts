/**
 * Outputs are saved only while the lease is held: the deltas by the condition of the write that frees it, and
 * new bodies by the clock. A worker that takes the lease over after this proof reads from the API server and
 * sees our writes. A worker that took it over before is woken by their events.
 */
import { allToEnd } from '#shared/concurrently.ts';
import { outputKindOf } from '#shared/kube/controllers.ts';
import { encodeDeltas, roomForDeltas } from '#shared/store/outputs/deltas.ts';
import { kindOfOutputItem } from '#shared/store/outputs/output-items.ts';
import { forgetOutputs, saveOutputs } from '#shared/store/outputs/outputs.ts';
import { type ServiceCounts, saveCounts } from '#shared/store/outputs/service-counts.ts';
import { saveTriggers } from '#shared/store/triggers.ts';
import { isHeld } from '#shared/workqueue/take.ts';
import { countForeign, foreignAfter } from '../guards/foreign-writes.ts';
import type { RunResult } from '../state/run-result.ts';
import type { ServiceStep, WrittenRun } from './service-run.ts';

/** A run that neither wrote nor read from the API server has no outputs to save. */
export const proveLease: ServiceStep<WrittenRun, WrittenRun> = async (written) => {
  const { deps, claim, run } = written;
  const isLost = run.server.needsLeaseCheck && !isHeld(deps, claim);
  return isLost ? { end: 'lease-lost' } : { next: written };
};

export async function saveRun(written: WrittenRun): Promise<RunResult> {
  const { deps, cluster, claim, run, outcomes } = written;
  const { server, inputs, nextTrackers: next } = run;
  const counts: ServiceCounts = { gauges: next.gauges, foreign: foreignAfter(run), hints: next.hints };
  const triggers = { next: next.triggers, stored: inputs.triggers };
  const text = await saveTriggers(deps.table, run.key, triggers, deps.limits.sync);
  const isUnchanged = text === (claim.item.triggers ?? null);
  let saved: SavedOfOutputs = {};
  if (server.needsLeaseCheck) saved = await saveWithOutputs(written, counts, text?.length ?? 0);
  else await saveCounts(deps.table, run.key, counts, run.counts);
  return {
    cluster,
    queues: cluster.queues,
    outcomes,
    ...{ server, api: run.brief, inputs, notes: run.notes },
    triggers: isUnchanged ? undefined : text,
    ...saved,
  };
}

type SavedOfOutputs = Pick<RunResult, 'isUnsaved' | 'deltas'>;

async function saveWithOutputs(
  { deps, claim, run, outcomes, deltas: before }: WrittenRun,
  counts: ServiceCounts,
  triggersBytes: number,
): Promise<SavedOfOutputs> {
  const { key, server, inputs } = run;
  const { unitBytes, savedBytes } = deps.limits.sync;
  const outputs = { before: inputs.outputs, bodies: inputs.bodies, deltas: before, changed: server.unsaved };
  const deltaBytes = roomForDeltas(claim.item.bytes + triggersBytes, inputs.bodies, unitBytes);
  const [{ deltas, isNewest }] = await allToEnd([
    saveOutputs(deps.table, key, outputs, { deltaBytes, savedBytes }),
    saveCounts(deps.table, key, counts, run.counts),
  ]);
  // Each controller by itself: the other may take long, and by then there may be a new service of that name.
  const done = [...outcomes].filter(([, o]) => o.kind === 'ok').map(([c]) => outputKindOf[c]);
  if (!inputs.service) await forgetOutputs(deps.table, key, done);
  await countForeign(run, counts.foreign);
  const kept = inputs.service
    ? deltas
    : new Map([...deltas].filter(([sk]) => !done.includes(kindOfOutputItem(sk))));
  return { isUnsaved: !isNewest, deltas: encodeDeltas(kept) };
}
