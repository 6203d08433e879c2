/** One run of one service: what both controllers share. */
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { HintsRecord } from '#shared/controllers/slices/plan.ts';
import { type Controller, outputKindOf } from '#shared/kube/controllers.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import type { Part } from '#shared/kube/work-kinds.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import type { GaugeRecord, ServiceCounts } from '#shared/store/outputs/service-counts.ts';
import type { Triggers } from '#shared/store/triggers.ts';
import { incarnationOf } from '#shared/store/version.ts';
import { partState, type WorkItem } from '#shared/workqueue/rules/item.ts';
import type { SyncDeps } from './deps.ts';
import type { Inputs } from './inputs.ts';
import type { ServerState } from './server-state.ts';

/** A version of an object of ours that another manager wrote. */
export interface ForeignWrite {
  readonly kind: OutputKind;
  readonly namespace: string;
  readonly name: string;
  readonly manager: string;
}

export interface Run {
  readonly deps: SyncDeps;
  readonly cluster: ClusterRecord;
  readonly key: ServiceKey;
  readonly api: ClusterApi;
  /** The same API for what may not take long: a probe, an Event. */
  readonly brief: ClusterApi;
  readonly work: WorkItem;
  /** How often in a row the run was requeued before. */
  readonly rounds: number;
  readonly inputs: Inputs;
  /** In a shadow cluster what the built-in controllers were last seen to have written. */
  readonly observed: readonly OutputRecord[] | undefined;
  /** The managed-by label of the slices that the run writes. */
  readonly managedBy: string;
  /** As they were saved before the run. */
  readonly counts: ServiceCounts;
  /** An expired lease was taken over: outputs are read from the cluster. */
  readonly wasTakenOver: boolean;
  readonly server: ServerState;
  /** Versions of our objects that another client wrote, as this run found them. */
  readonly foreignWrites: ForeignWrite[];
  /** Notes for the history, besides the outcomes. */
  readonly notes: string[];
  /** The trackers' next states, saved whether or not the writes succeed (TT-14). */
  readonly nextTrackers: {
    triggers: Triggers;
    hints: HintsRecord | undefined;
    gauges: GaugeRecord | undefined;
  };
}

type Saved = Pick<Run, 'wasTakenOver' | 'work'> & {
  readonly inputs: Pick<Inputs, 'outputs'>;
  readonly cluster: Pick<ClusterRecord, 'incarnation'>;
};

/**
 * May the saved outputs of the controller be other than the cluster's? Then the run reads them from the API
 * server.
 */
export function mustReadFromApiServer(
  { wasTakenOver, work, inputs, cluster }: Saved,
  controller: Controller,
): boolean {
  const { doneGeneration, failures } = partState(work, controller);
  const saved = inputs.outputs.filter((o) => o.kind === outputKindOf[controller]);
  // After a restore every service runs once with reads from the API server. A service that had opted in then
  // had no Endpoints of its own.
  const isLost = saved.some((o) => o.object && incarnationOf(o.version) < cluster.incarnation);
  return wasTakenOver || work.apiReadGeneration > doneGeneration || failures > 0 || isLost;
}

/** Returns true if an earlier run of the part for the same change failed or was requeued. */
export function isRetry({ work }: Pick<Run, 'work'>, part: Part): boolean {
  const { doneGeneration, retryGeneration } = partState(work, part);
  return retryGeneration > doneGeneration;
}
