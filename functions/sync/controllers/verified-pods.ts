/** The mass-removal guard of a run of a service. */
import { isDeepStrictEqual } from 'node:util';
import { withOptInSelectorFor } from '#shared/controllers/opt-in/writer.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import { project } from '#shared/kube/projection/projection.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { guardRemoval, type Removal } from '../guards/mass-removal-guard.ts';
import { listPods } from '../state/live-pods.ts';
import { requeue, requeueRun } from '../state/requeue.ts';
import { isRetry, type Run } from '../state/run.ts';

export interface GuardedPlan extends Pick<Removal, 'before' | 'left' | 'leftBy'> {
  readonly controller: Controller;
}

/** Returns the pods of the cluster if more endpoints stay by them; undefined to go on with the plan. */
export async function verifiedPods(
  run: Run,
  { controller, ...plan }: GuardedPlan,
): Promise<readonly Pod[] | undefined> {
  const { key } = run;
  const verdict = await guardRemoval(run.deps, {
    ...plan,
    cluster: key.cluster,
    isAgain: isRetry(run, controller),
    ask: () => podsInCluster(run, controller),
  });
  if (verdict.kind !== 'differs') return undefined;
  run.notes.push(
    `the mass-removal guard held back: the cluster has ${verdict.missed} pods for it that the snapshot lacks`,
  );
  return verdict.pods;
}

/**
 * Throws RequeueAfter if the snapshot lacks the Service, has another spec of it, or lacks Nodes that the
 * cluster has. A plan by the cluster's pods would have the same fault.
 */
export async function podsInCluster(run: Run, controller: Controller): Promise<readonly Pod[] | undefined> {
  const { api, cluster, inputs, key } = run;
  const { service } = inputs;
  const live = await api.get('Service', key.namespace, key.name);
  if (!service) return live ? requeueInDoubt(run, 'the Service is there in the cluster') : undefined;
  if (
    live &&
    !isDeepStrictEqual(decisive(service), decisive(withOptInSelectorFor(project('Service', live), cluster)))
  ) {
    return requeueInDoubt(run, 'the Service is another one in the cluster');
  }
  const pods = await listPods(api, key.namespace, service.spec?.selector ?? {});
  if (controller === 'slices' && (await hasUnknownNode(run, pods)))
    return requeueInDoubt(run, 'the cluster has Nodes that the snapshot lacks');
  return pods;
}

/** The fields of a Service that decide which endpoints it has. */
function decisive({ spec = {} }: Service): object {
  const { selector, type, clusterIP, ipFamilies, ports, publishNotReadyAddresses } = spec;
  return { selector, type, clusterIP, ipFamilies, ports, publishNotReadyAddresses };
}

/** A pod on an unknown Node is in no slice. */
async function hasUnknownNode({ api, inputs: { nodes } }: Run, pods: readonly Pod[]): Promise<boolean> {
  const unknown = new Set(
    pods.flatMap(({ spec }) => (spec?.nodeName && !nodes.has(spec.nodeName) ? [spec.nodeName] : [])),
  );
  for (const name of [...unknown].slice(0, nodesToAskFor)) if (await api.get('Node', '', name)) return true;
  return false;
}

const nodesToAskFor = 5;

/** Ends the run, because the snapshot differs from the cluster. */
export function requeueInDoubt({ deps, key }: Run, reason: string): never {
  deps.metrics.put('Drift', 1, { cluster: key.cluster });
  throw requeueRun(deps, 'endpointsKept', { reason });
}

/**
 * The outcome of a part that is done. If the snapshot differs from the cluster, the part runs again until an
 * event or a list has corrected the snapshot: the end of a pod that the snapshot lacks changes nothing in it,
 * so it would wake no service.
 */
export const doneUnlessSnapshotDiffers = (run: Run, isSnapshotBelieved: boolean): Outcome =>
  isSnapshotBelieved
    ? ok
    : requeue(run.deps, 'endpointsKept', { reason: 'snapshot differs from the cluster' });
