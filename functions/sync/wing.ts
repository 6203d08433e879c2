/** The door of services across clusters (docs/clusterset.md): the reconcilers of exports and imports. */
import type { WorkKind } from '#shared/kube/work-kinds.ts';
import { exportWork, importWork } from './clusterset/reconcile-clusterset.ts';
import type { Reconciler } from './state/reconciler.ts';

export interface MoreWork {
  readonly kind: WorkKind;
  readonly reconciler: Reconciler;
}

export const moreWork: readonly MoreWork[] = [exportWork, importWork];
