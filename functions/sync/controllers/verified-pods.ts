/** The mass-removal guard of a run of a service. */
import type { Controller } from '#shared/kube/controllers.ts';
import { sameLabels } from '#shared/kube/labels.ts';
import type { Pod } from '#shared/kube/types.ts';
import { withOptInSelectorFor } from '#shared/opt-in/writer.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { guardRemoval, type Removal } from '../guards/mass-removal-guard.ts';
import { listPods } from '../state/live-pods.ts';
import { requeue, requeueRun } from '../state/requeue.ts';
import { isRetry, type Run } from '../state/run.ts';

export interface GuardedPlan extends Pick<Removal, 'before' | 'left' | 'leftBy'> {
  readonly controller: Controller;
}

/** Returns the pods of the cluster if more endpoints stay by them; undefined to go on with the plan. */
export async function verifiedPods(run: Run, { controller, ...plan }: GuardedPlan): Promise<readonly Pod[] | undefined> {
  const { key } = run;
  const verdict = await guardRemoval(run.deps, {
    ...plan,
    cluster: key.cluster,
    isAgain: isRetry(run, controller),
    ask: () => podsOfService(run),
  });
  if (verdict.kind !== 'differs') return undefined;
  run.notes.push(`the mass-removal guard held back: the cluster has ${verdict.missed} pods for it that the snapshot lacks`);
  return verdict.pods;
}

/** Throws RequeueAfter if the cluster's Service selects other pods than the snapshot's, or the snapshot lacks it. */
async function podsOfService({ api, deps, cluster, inputs: { service }, key }: Run): Promise<readonly Pod[] | undefined> {
  const live = await api.get('Service', key.namespace, key.name);
  const isAsKnown = !live || (service && sameLabels(service.spec?.selector, withOptInSelectorFor(live, cluster).spec?.selector));
  if (isAsKnown) return service && listPods(api, key.namespace, service.spec?.selector ?? {});
  deps.metrics.put('Drift', 1, { cluster: key.cluster });
  throw requeueRun(deps, 'snapshotInDoubt', { reason: 'the Service is another one in the cluster' });
}

/**
 * The outcome of a part that is done. If the snapshot differs from the cluster, the part runs again until an event or a list has corrected the snapshot:
 * the end of a pod that the snapshot lacks changes nothing in it, so it would wake no service.
 */
export const doneUnlessSnapshotDiffers = (run: Run, isSnapshotBelieved: boolean): Outcome =>
  isSnapshotBelieved ? ok : requeue(run.deps, 'snapshotInDoubt', { reason: 'snapshot differs from the cluster' });
