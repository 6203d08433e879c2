/**
 * The comparisons of a shadow cluster. Services that opt in are written all the same, and what was written of
 * them is deleted.
 */
import { writesOptIn } from '#shared/clusters/writer/mode.ts';
import { forgetOutputs, readOutputs } from '#shared/store/outputs/outputs.ts';
import { concernsOptIn, hasOptInSlices } from '../controllers/opt-in-hand-over.ts';
import { mayWithdraw, type TaskBeside, withdrawalOf } from '../controllers/opt-in-off.ts';
import { compareWithCluster } from '../controllers/shadow-compare.ts';
import { type Inputs, readInputs } from '../state/inputs.ts';
import {
  type AdmittedRun,
  type ComparedRun,
  nothingDone,
  type ServiceStep,
  type WrittenRun,
} from './service-run.ts';

export const compareInShadowMode: ServiceStep<AdmittedRun, ComparedRun> = async (run) => {
  if (run.admission.kind !== 'compare') return { next: { ...run, observed: undefined } };
  const { deps, cluster, claim, items, deltas, reads } = run;
  const key = claim.service;
  const observed = await readInputs(deps, {
    ...{ cluster, key, triggers: reads.triggers, items, deltas },
    source: 'observed',
  });
  const { to, forgotten } = await taskBeside(run, observed);
  if (to === 'write') return { next: { ...run, observed } };
  // The tombstone was purged while this run was pending. A saved output would make the next list take the
  // Endpoints for current ones.
  if (!items.serviceRecord) await forgetOutputs(deps.table, key, ['Endpoints']);
  return {
    end: { ...nothingDone(run, await compareWithCluster(deps, cluster, key, observed)), ...forgotten },
  };
};

async function taskBeside(
  { deps, cluster, claim, deltas }: AdmittedRun,
  observed: Inputs,
): Promise<TaskBeside> {
  const isOn = writesOptIn(cluster);
  if (!claim.parts.includes('slices') || !(isOn || mayWithdraw(deps, cluster))) return { to: 'compare' };
  const written = await readOutputs(deps.table, claim.service, deltas);
  if (!isOn)
    return withdrawalOf(deps, { key: claim.service, incarnation: cluster.incarnation }, observed, written);
  return { to: concernsOptIn(observed, written, { ...claim, cluster }) ? 'write' : 'compare' };
}

/**
 * The built-in controllers write the Service again once the last slice of ours is deleted: from then on it is
 * compared.
 */
export const compareAfterWithdrawal: ServiceStep<WrittenRun, WrittenRun> = async (written) => {
  const { deps, cluster, claim, observed, run, outcomes } = written;
  const isWithdrawn =
    outcomes.get('slices')?.kind === 'ok' &&
    run.inputs.writers.slices.by === 'built-in' &&
    !hasOptInSlices(run);
  if (!observed || !isWithdrawn) return { next: written };
  const compared = await compareWithCluster(deps, cluster, claim.service, observed);
  return { next: { ...written, outcomes: new Map([...outcomes, ['slices', compared]]) } };
};
