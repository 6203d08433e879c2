/** What the steps of a service's run hand on, in the order in which they find it. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import type { OutputDeltas } from '#shared/store/outputs/deltas.ts';
import type { StoredTriggers } from '#shared/store/triggers.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import type { Admission, Applicant } from '../admission/admission.ts';
import type { SyncDeps } from '../state/deps.ts';
import type { Inputs, ServiceItems } from '../state/inputs.ts';
import type { Prefetch } from '../state/prefetch.ts';
import type { StartedRun } from '../state/reconciler.ts';
import type { Run } from '../state/run.ts';
import type { RunResult } from '../state/run-result.ts';
import type { RunStep } from '../state/steps.ts';

export type ServiceRunResult = RunResult | 'lease-lost';

export type ServiceStep<From, Next> = RunStep<From, Next, ServiceRunResult>;

export interface BegunRun extends StartedRun {
  readonly deps: SyncDeps;
  readonly cluster: ClusterRecord;
  readonly items: ServiceItems;
  /** The outputs' deltas when the lease was taken. */
  readonly deltas: OutputDeltas;
  readonly reads: BegunReads;
}

/** Reads that are under way. */
export interface BegunReads {
  readonly inputs: Prefetch['inputs'];
  readonly triggers: Promise<StoredTriggers>;
}

export interface AdmittedRun extends BegunRun {
  readonly applicant: Applicant;
  readonly admission: Exclude<Admission, { readonly kind: 'skip' | 'requeue' }>;
}

export interface ComparedRun extends AdmittedRun {
  /** In a shadow cluster the inputs with what the built-in controllers were last seen to have written. */
  readonly observed: Inputs | undefined;
}

export interface ReadRun extends ComparedRun {
  readonly run: Run;
}

export interface WrittenRun extends ReadRun {
  readonly outcomes: ReadonlyMap<Controller, Outcome>;
}

/** The end of a run that has written nothing, with the same outcome for all its parts. */
export const nothingDone = (
  { claim, cluster }: Pick<BegunRun, 'claim'> & { readonly cluster: ClusterRecord | undefined },
  outcome: Outcome,
): RunResult => ({
  cluster,
  queues: cluster?.queues,
  outcomes: new Map(claim.parts.map((part) => [part, outcome])),
});
