/**
 * The steps of both controllers: plan, ask the mass-removal guard, write. If another client has changed an
 * output, read the outputs and plan once more.
 */
import type { Controller } from '#shared/kube/controllers.ts';
import type { OutputKind, Pod } from '#shared/kube/types.ts';
import type { OutputObject } from '#shared/store/outputs.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
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

export async function planAndWrite<P>(run: Run, of: Planned<P>): Promise<Outcome> {
  /** As the cluster lists them: the snapshot is not believed. */
  let live: readonly Pod[] | undefined;
  for (let isReadAgain = false; ; ) {
    const plan = of.planWith(live ?? run.inputs.pods);
    of.track(plan);
    if (!live) {
      const leftBy = (pods: readonly Pod[]) => of.podsLeft(of.planWith(pods));
      live = await verifiedPods(run, {
        controller: of.controller,
        before: of.podsNow(),
        left: of.podsLeft(plan),
        leftBy,
      });
      if (live) continue;
    }
    const { kind, failure } = await of.write(plan);
    if (kind === 'stale' && !isReadAgain) {
      run.deps.metrics.put('SyncsConflict', 1, { cluster: run.key.cluster });
      await of.readAgain();
      isReadAgain = true;
      continue;
    }
    return failure ? failure() : doneUnlessSnapshotDiffers(run, !live);
  }
}

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
