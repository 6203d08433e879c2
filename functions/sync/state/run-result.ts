/** The result of a run of any kind of work. */
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { FinishedRun } from '#shared/workqueue/finish.ts';
import type { Inputs } from './inputs.ts';
import type { ServerState } from './server-state.ts';

/** How a run ended. `server`, `api` and `inputs` are of a run that got as far as the cluster. */
export interface RunResult extends FinishedRun {
  readonly cluster: ClusterRecord | undefined;
  readonly server?: ServerState;
  readonly api?: ClusterApi;
  readonly inputs?: Inputs;
  /** The number of written slices of an import. */
  readonly imported?: { readonly slices: number };
  /** For the history: notes besides the outcomes, and the reason why the run was not admitted. */
  readonly notes?: readonly string[];
  readonly heldBack?: string | undefined;
  /** For the history: the table holds newer outputs than the run was to save. */
  readonly isUnsaved?: boolean;
}

/**
 * Why a run of shadow mode is enqueued again for a comparison, which writes nothing. The history keeps no
 * record of it.
 */
export const comparedLater = {
  afterHandOver: 'compared after the hand-over',
  toConfirm: 'difference to be confirmed',
} as const;
