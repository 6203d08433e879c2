/**
 * The run guard (docs/parity.md D30): a run that would leave fewer than half of ten or more endpoints first asks the API server for the pods. The
 * list guard, which holds back a list that takes much away, is `awaitsOwnList` in functions/ingest/inputs/input-list-page.ts.
 */
import { limitsOf } from '#shared/contract/limits.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import { sameLabels } from '#shared/kube/labels.ts';
import { project } from '#shared/kube/projection.ts';
import type { Pod } from '#shared/kube/types.ts';
import { withOptInSelectorFor } from '#shared/opt-in/writer.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { requeue, requeueRun } from '../state/requeue.ts';
import { isOnceMore, type Run } from '../state/run.ts';

export interface ToWrite {
  readonly controller: Controller;
  /** The pods of the endpoints that there are. */
  readonly before: readonly string[];
  /** The pods of the endpoints that there are once the plan is carried out, which was made by the snapshot. */
  readonly left: readonly string[];
  /** The same for a plan by other pods. */
  readonly leftBy: (pods: readonly Pod[]) => readonly string[];
}

/**
 * Pods as the cluster lists them right now, when the plan would leave less than half of ten or more endpoints and more would stay by what the
 * cluster says (a pod that the snapshot does not know, or of which it holds something else); undefined to go on with the plan. A run that comes once more asks
 * whenever it would take a pod away: the run before may have ended because the snapshot was wrong, and have left fewer than ten endpoints. Not asked
 * about pods that came from here.
 */
export async function verifiedPods(run: Run, { controller, before, left, leftBy }: ToWrite): Promise<readonly Pod[] | undefined> {
  const { brakeFrom, brakeShare } = limitsOf(run.deps).sync;
  const mayBeMany = before.length >= brakeFrom;
  const isAgain = isOnceMore(run, controller);
  if (!mayBeMany && !isAgain) return undefined;
  const isMass = mayBeMany && left.length < before.length * brakeShare;
  if (!isMass && !isAgain) return undefined;
  const service = run.inputs.service;
  const stay = new Set(left);
  const lost = new Set(before.filter((uid) => !stay.has(uid)));
  if (!isMass && lost.size === 0) return undefined;
  if (isMass) run.deps.metrics.put('Braked', 1, { cluster: run.key.cluster });
  await verifyService(run);
  if (!service) return undefined;
  const { items: live } = await run.api.list('Pod', run.key.namespace, {
    labels: service.spec?.selector ?? {},
    keep: (pod): Pod => project('Pod', pod),
  });
  const missed = new Set(leftBy(live).filter((uid) => (isMass ? !stay.has(uid) : lost.has(uid)))).size;
  if (missed === 0) return undefined;
  run.deps.metrics.put('Drift', missed, { cluster: run.key.cluster });
  run.notes.push(`the mass-removal guard held back: the cluster has ${missed} pods for it that the snapshot lacks`);
  return live;
}

/** Throws Postponed if the Service is there that the snapshot holds for gone, or selects other pods. */
async function verifyService({ api, deps, meta, inputs: { service }, key }: Run): Promise<void> {
  const live = await api.get('Service', key.namespace, key.name);
  if (!live || (service && sameLabels(service.spec?.selector, withOptInSelectorFor(live, meta).spec?.selector))) return;
  deps.metrics.put('Drift', 1, { cluster: key.cluster });
  throw requeueRun(deps, 'snapshotInDoubt', { reason: 'the Service is another one in the cluster' });
}

/**
 * How a part ends that is done. If the snapshot was not believed, the work stays owed until it has caught up, or a list has put it right: once the
 * snapshot is wrong about a pod, the pod's own end changes nothing in it and would wake nobody.
 */
export const endOfRun = (run: Run, isSnapshotBelieved: boolean): Outcome =>
  isSnapshotBelieved ? ok : requeue(run.deps, 'snapshotInDoubt', { reason: 'snapshot differs from the cluster' });
