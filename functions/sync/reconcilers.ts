/** The reconciler of each kind of work. */
import type { WorkKind } from '#shared/kube/work-kinds.ts';
import { newRecord } from './aftermath/run-history.ts';
import { exportReconciler, importReconciler } from './clusterset/reconcile-clusterset.ts';
import { reconcileService } from './service/reconcile-service.ts';
import { prefetchDuringClaim } from './state/prefetch.ts';
import type { Reconciler } from './state/reconciler.ts';

export const reconcilers: { readonly [K in WorkKind]: Reconciler } = {
  service: { prefetch: prefetchDuringClaim, reconcile: reconcileService, newRecord },
  export: exportReconciler,
  import: importReconciler,
};
