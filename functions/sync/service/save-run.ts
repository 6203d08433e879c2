/**
 * Outputs are saved only while the lease is held. A worker that takes the lease over after the proof reads
 * from the API server and sees our writes. A worker that took it over before is woken by their events.
 */
import { allToEnd } from '#shared/concurrently.ts';
import { outputKindOf } from '#shared/kube/controllers.ts';
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
  let isSaved = true;
  if (server.needsLeaseCheck) isSaved = await saveWithOutputs(written, counts);
  else await saveCounts(deps.table, run.key, counts, run.counts);
  const triggers = { next: next.triggers, stored: inputs.triggers };
  const text = await saveTriggers(deps.table, run.key, triggers, deps.limits.sync);
  const isUnchanged = text === (claim.item.triggers ?? null);
  return {
    cluster,
    queues: cluster.queues,
    outcomes,
    ...{ server, api: run.brief, inputs, notes: run.notes, isUnsaved: !isSaved },
    triggers: isUnchanged ? undefined : text,
  };
}

/** Resolves to false if the table holds newer outputs. */
async function saveWithOutputs({ deps, run, outcomes }: WrittenRun, counts: ServiceCounts): Promise<boolean> {
  const { key, server, inputs } = run;
  const toSave = { bodies: inputs.bodies, changed: server.unsaved };
  const [isSaved] = await allToEnd([
    saveOutputs(deps.table, key, toSave, deps.limits.sync),
    saveCounts(deps.table, key, counts, run.counts),
  ]);
  // Each controller by itself: the other may take long, and by then there may be a new service of that name.
  const done = [...outcomes].filter(([, o]) => o.kind === 'ok').map(([c]) => outputKindOf[c]);
  if (!inputs.service) await forgetOutputs(deps.table, key, done);
  await countForeign(run, counts.foreign);
  return isSaved;
}
