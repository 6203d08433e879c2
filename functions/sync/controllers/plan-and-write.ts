/**
 * The steps of both controllers: plan, ask the mass-removal guard, write. If another client has changed an
 * output, read the outputs and plan once more, unless the cluster has been switched meanwhile.
 */
import { readCluster } from '#shared/clusters/record.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import type { OutputKind, Pod } from '#shared/kube/types.ts';
import type { OutputObject } from '#shared/store/outputs/outputs.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import { requeueRun } from '../state/requeue.ts';
import type { Run } from '../state/run.ts';
import { deleteAsSeen } from '../writes/conditional-writes.ts';
import { doneUnlessSnapshotDiffers, verifiedPods } from './verified-pods.ts';

export interface Planned<P> {
  readonly controller: Controller;
  readonly planWith: (pods: readonly Pod[]) => P;
  /** Uids of the pods of all endpoints, now and once the plan is carried out. */
  readonly podsNow: () => readonly string[];
  readonly podsLeft: (plan: P) => readonly string[];
  /** Keeps what the run saves of the plan, whether or not its writes succeed. */
  readonly track: (plan: P) => void;
  /** Resolves with `stale` if an output is not as it was read. */
  readonly write: (plan: P) => Promise<Written>;
  readonly readAgain: () => Promise<void>;
}

export interface Written {
  readonly kind: 'done' | 'stale' | 'failed';
  /** Ends a run that failed, or is stale once more. */
  readonly failure?: () => Promise<Outcome>;
}

export async function planAndWrite<P>(run: Run, steps: Planned<P>): Promise<Outcome> {
  let { plan, live } = await decide(run, steps);
  let written = await steps.write(plan);
  if (written.kind === 'stale') {
    run.deps.metrics.put('SyncsConflict', 1, { cluster: run.key.cluster });
    await proveNotSwitched(run);
    await steps.readAgain();
    ({ plan, live } = await decide(run, steps, live));
    written = await steps.write(plan);
  }
  return written.failure ? written.failure() : doneUnlessSnapshotDiffers(run, !live);
}

/**
 * The client that has changed the output may be the cluster's next writer. A plan by this run's older
 * snapshot would take away what that writer has just added.
 */
async function proveNotSwitched({ deps, cluster }: Run): Promise<void> {
  const now = await readCluster(deps.table, cluster.id);
  const isSame =
    now !== undefined &&
    now.modeSwitch.count === cluster.modeSwitch.count &&
    now.incarnation === cluster.incarnation &&
    now.writerConflict === cluster.writerConflict;
  if (!isSame) throw requeueRun(deps, 'soon', { reason: 'the cluster was switched during the run' });
}

interface Decided<P> {
  readonly plan: P;
  /** As the cluster lists them: the snapshot is not believed. */
  readonly live: readonly Pod[] | undefined;
}

/** The guard looks at a plan by the snapshot only. Where it differs from the cluster, the cluster's pods decide. */
async function decide<P>(run: Run, steps: Planned<P>, live?: readonly Pod[]): Promise<Decided<P>> {
  const plan = steps.planWith(live ?? run.inputs.pods);
  steps.track(plan);
  const verified = live ?? (await guard(run, steps, plan));
  return verified === live ? { plan, live } : decide(run, steps, verified);
}

const guard = <P>(run: Run, steps: Planned<P>, plan: P): Promise<readonly Pod[] | undefined> =>
  verifiedPods(run, {
    controller: steps.controller,
    before: steps.podsNow(),
    left: steps.podsLeft(plan),
    leftBy: (pods) => steps.podsLeft(steps.planWith(pods)),
  });

/** Deletes the object only as the run has read it. */
export async function deleteOutput(
  { api, server }: Run,
  kind: OutputKind,
  object: OutputObject,
): Promise<void> {
  if (await deleteAsSeen(api, kind, object)) server.recordDeleted(kind, object);
  else server.recordMissing(kind, object);
  server.countWrite(kind, 'delete');
}
