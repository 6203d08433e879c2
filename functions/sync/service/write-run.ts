/** Both controllers of a service: each decides, asks the mass-removal guard and writes (plan-and-write.ts). */
import { writesOptIn } from '#shared/clusters/writer/mode.ts';
import { concurrently } from '#shared/concurrently.ts';
import { podsAway } from '#shared/controllers/zones/pods-away.ts';
import { type Controller, isController } from '#shared/kube/controllers.ts';
import { optInManagedBy } from '#shared/kube/names.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { outcomeOf } from '../admission/failure-outcome.ts';
import { lookAtEndpoints, runEndpoints } from '../controllers/endpoints-controller.ts';
import { lookAtSlices, runWithOptIn } from '../controllers/opt-in-hand-over.ts';
import { isRefusedWhileOff, reportedRefusal } from '../controllers/opt-in-off.ts';
import { savePreview } from '../controllers/shadow-compare.ts';
import { runSlices } from '../controllers/slices-controller.ts';
import { observeSync } from '../controllers/sync-metrics.ts';
import { isOursByOptIn } from '../state/inputs.ts';
import type { Run } from '../state/run.ts';
import type { ReadRun, ServiceStep, WrittenRun } from './service-run.ts';

/**
 * With opt-in one after the other: the hand-over of slices may delete Endpoints that the other controller has
 * just read.
 */
export const runControllers: ServiceStep<ReadRun, WrittenRun> = async (read) => {
  const { run, claim, cluster } = read;
  const atOnce = run.managedBy === optInManagedBy ? 1 : 2;
  const outcomes = new Map(
    await concurrently(
      atOnce,
      claim.parts.filter(isController),
      async (c) => [c, await runController(run, c)] as const,
    ),
  );
  const slices = outcomes.get('slices');
  if (keepsZone(run)) run.deps.metrics.put('ZoneHeld', 1, { cluster: cluster.id });
  if (slices && cluster.settings.controllers.includes('slices')) observeSync(run, slices);
  return { next: { ...read, outcomes } };
};

const keepsZone = ({ inputs }: Run): boolean =>
  inputs.service !== undefined && podsAway(inputs.service, inputs).isHeld;

async function runController(run: Run, controller: Controller): Promise<Outcome> {
  const { deps, cluster, key, inputs } = run;
  if (controller === 'slices' && isPreviewed(run)) await savePreview(deps, cluster, key, inputs);
  try {
    return await carryOut(run, controller);
  } catch (error) {
    if (isRefusedWhileOff(cluster, error)) return reportedRefusal(deps, key, error);
    return outcomeOf(run, error, 'read', { ...key, controller });
  }
}

/** The preview of a Service that is gone is forgotten. */
const isPreviewed = ({ cluster, inputs }: Run): boolean =>
  cluster.optIn === 'shadow' && (inputs.writers.slices.task === 'preview' || !inputs.service);

async function carryOut(run: Run, controller: Controller): Promise<Outcome> {
  const { inputs, cluster } = run;
  if (controller === 'slices' && (writesOptIn(cluster) || inputs.outputs.some(isOursByOptIn)))
    return runWithOptIn(run);
  const { write, look } = controllers[controller];
  if (inputs.writers[controller].task === 'write') return write(run);
  // Outputs of controllers that the hub does not run are not its own.
  if (cluster.mode === 'active' && cluster.settings.controllers.includes(controller)) await look(run);
  return ok;
}

interface ControllerRun {
  readonly write: (run: Run) => Promise<Outcome>;
  /**
   * Reads outputs that the run does not write, if the saved ones may be outdated: the run counts as having
   * read them, and a later run relies on them.
   */
  readonly look: (run: Run) => Promise<void>;
}

const controllers: { readonly [C in Controller]: ControllerRun } = {
  endpoints: { write: runEndpoints, look: lookAtEndpoints },
  slices: { write: runSlices, look: (run) => lookAtSlices(run, [run.managedBy]) },
};
