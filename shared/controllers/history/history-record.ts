/** The record of one run of sync: its times, its result, and the changes of each pod with their reasons. */
import type { Controller } from '#shared/kube/controllers.ts';
import type { Where } from './addresses.ts';

/** One address in Endpoints or in the slices of one family. */
export interface Move {
  readonly where: Where;
  readonly address: string;
  /**
   * State before and after the run, such as `ready` or `not ready, terminating`. Undefined if the address was
   * or is not listed.
   */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Changes of ports, node, zone and hints. */
  readonly detail?: string | undefined;
}

export interface PodMoves {
  /** Empty for an address without a pod. */
  readonly pod: string;
  /** The reason of `explain` at that moment. Empty if the moves need no reason. */
  readonly why: string;
  /**
   * The code of the reason, for programs (shared/controllers/verdicts/verdict.ts). Undefined if the moves need no reason.
   */
  readonly reason?: string | undefined;
  readonly moves: readonly Move[];
  /** Another client had written `from`, and the run has restored the former state. */
  readonly isRepair?: boolean;
}

export interface Ending {
  readonly kind: 'failed' | 'requeued';
  readonly text: string;
}

export interface HistoryRecord {
  /** Start of the run. All times are in ms since the epoch. */
  readonly atMs: number;
  /** The generation that the run covered. For several equal runs: the generation of the first. */
  readonly generation: number;
  /**
   * Time when the relay saw the change, plus the batch period. Undefined for a retry, and for a later run
   * under the same lease.
   */
  readonly seenMs?: number | undefined;
  /** Due time of the wake-up. */
  readonly dueMs?: number | undefined;
  /** Time when the API server accepted the last write. */
  readonly acceptedMs?: number | undefined;
  readonly endedMs: number;
  readonly writes: { readonly endpoints: number; readonly slices: number };
  /** The client that wrote, in a record of what the relay saw and no run of the hub did. */
  readonly by?: string;
  /** Number of deletes, which `writes` includes. */
  readonly deletes?: { readonly endpoints: number; readonly slices: number };
  /** Result of each controller that failed or was requeued. */
  readonly endings: { readonly [C in Controller]?: Ending };
  /**
   * The reason why the run did nothing, if it is not a controller's result: the mode or a writer conflict.
   */
  readonly heldBack?: string | undefined;
  /** Further facts for the reader, such as the mass-removal guard or a lease that was taken over. */
  readonly notes: readonly string[];
  /** The reason why earlier records may not describe the state before this run. */
  readonly gap?: string | undefined;
  /** The hub had saved no output of the Service as present, so the record begins with this run. */
  readonly isFirst?: boolean;
  /**
   * Writer of the Service from this run on, in clusters whose built-in controllers are on. `opt-in` is the
   * hub. Undefined elsewhere.
   */
  readonly writer?: 'opt-in' | 'built-in' | 'none';
  /** Numbers of addresses that another client changed at an unknown time before the run. */
  readonly foundOtherwise?: { readonly endpoints: number; readonly slices: number };
  /**
   * The run wrote or deleted every slice that was saved, or found it as saved. The preconditions of the writes
   * prove that no other client had changed one.
   */
  readonly provesSlices?: boolean;
  /**
   * The table had newer outputs and refused to save those of the run, so later records do not continue from
   * its changes.
   */
  readonly isUnsaved?: boolean;
  readonly changes: readonly PodMoves[];
  /** Number of changed pods that are not named. */
  readonly more: number;
  /**
   * Runs in a row that ended like this one (repeats.ts); the first began at `atMs`, the last at `untilMs`.
   * The table has a record of each.
   */
  readonly times: number;
  readonly untilMs: number;
}

/** `gap` begins with it if the run took over the lease of a worker that had not ended. */
export const cutShort = 'a run before this one was cut short: what it changed may be missing';

/** Returns false for a record without facts for a reader. */
export const isWorthKeeping = (r: HistoryRecord): boolean =>
  r.writes.endpoints + r.writes.slices > 0 ||
  Object.keys(r.endings).length > 0 ||
  r.heldBack !== undefined ||
  r.gap !== undefined ||
  r.isFirst === true ||
  r.changes.length + r.more > 0;
