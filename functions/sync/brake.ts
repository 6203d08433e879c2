/** Nothing much is removed on the word of the snapshot alone (docs/parity.md D30). */
import { limitsOf } from '#shared/contract/limits.ts';
import { project } from '#shared/kube/projection.ts';
import type { Pod } from '#shared/kube/types.ts';
import { type Outcome, ok } from './outcome.ts';
import type { Run } from './run.ts';

/**
 * Pods as the cluster lists them right now, when the plan would leave less than half of ten or more endpoints and the snapshot does not
 * agree with the cluster; undefined to go on with the plan. Asked once a run: pods that came from here are not asked about again.
 */
export async function confirmedPods(run: Run, before: number, after: number, pods: readonly Pod[]): Promise<readonly Pod[] | undefined> {
  const { brakeFrom, brakeShare } = limitsOf(run.deps).sync;
  if (before < brakeFrom || after >= before * brakeShare || pods !== run.inputs.pods) return undefined;
  const service = run.inputs.service;
  if (!service) return undefined;
  run.deps.metrics.put('Braked', 1, { cluster: run.key.cluster });
  const { items } = await run.api.list('Pod', run.key.namespace, { labels: service.spec?.selector ?? {} });
  const live = items.map((p) => project('Pod', p));
  const uids = new Set(pods.map((p) => p.metadata.uid));
  const unknown = live.filter((p) => !uids.has(p.metadata.uid)).length;
  if (unknown === 0) return undefined;
  run.deps.metrics.put('Drift', unknown, { cluster: run.key.cluster });
  return live;
}

/**
 * How a part ends that is done. If the snapshot was not believed, the work stays owed until it has caught up, or a list has put it right: once the snapshot is wrong about a pod, the pod's own
 * end changes nothing in it and would wake nobody.
 */
export const doneWith = (run: Run, pods: readonly Pod[]): Outcome =>
  pods === run.inputs.pods ? ok : { kind: 'not-now', reason: 'snapshot differs from the cluster', waitSeconds: limitsOf(run.deps).sync.doubtSeconds };
