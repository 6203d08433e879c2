/** The door of services across clusters (docs/use/clusterset.md): the reconcilers of exports and imports. */

import { exportWork, importWork } from '#functions/clusterset/sync/reconcile-clusterset.ts';
import type { WorkKind } from '#shared/kube/work-kinds.ts';
import type { Reconciler } from './state/reconciler.ts';

export interface MoreWork {
  readonly kind: WorkKind;
  readonly reconciler: Reconciler;
}

export const moreWork: readonly MoreWork[] = [exportWork, importWork];
