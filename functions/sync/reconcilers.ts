/** The reconciler of each kind of work. */
import type { WorkKind } from '#shared/kube/work-kinds.ts';
import { newRecord } from './aftermath/run-history.ts';
import { reconcileService } from './service/reconcile-service.ts';
import type { Reconciler } from './state/reconciler.ts';
import { moreWork } from './wing.ts';

const reconcilers: ReadonlyMap<WorkKind, Reconciler> = new Map([
  ['service', { reconcile: reconcileService, newRecord }],
  ...moreWork.map(({ kind, reconciler }) => [kind, reconciler] as const),
]);

export function reconcilerOf(kind: WorkKind): Reconciler {
  const reconciler = reconcilers.get(kind);
  if (!reconciler)
    throw new Error(
      `there is no reconciler of kind ${kind}: ${[...reconcilers.keys()].join(', ')} are known`,
    );
  return reconciler;
}
