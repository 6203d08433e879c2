/** What one run of sync leaves behind: when it was due and done, how it ended, and for each pod what came, went or changed, and why. */
import type { Controller } from '#shared/kube/controllers.ts';
import type { Where } from './addresses.ts';

/** One address in Endpoints or in the slices of one family. */
export interface Move {
  readonly where: Where;
  readonly address: string;
  /** Its state before and after the run, as `ready` or `not ready, terminating`; undefined: it was, or is, not listed. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** What changed beside the state: ports, node, zone, hints. */
  readonly detail?: string | undefined;
}

export interface PodChange {
  /** Empty for an address without a pod. */
  readonly pod: string;
  /** The reason that `explain` gave at that moment; empty where the moves say all there is. */
  readonly why: string;
  readonly moves: readonly Move[];
  /** Another client had written `from`, and the run has written back what was there before. */
  readonly isRepair?: boolean;
}

export interface Ending {
  readonly kind: 'failed' | 'requeued';
  readonly text: string;
}

export interface HistoryRecord {
  /** When the run began; this and all other times in ms since the epoch. */
  readonly atMs: number;
  /** What the run covered; of several alike what the first of them did. */
  readonly generation: number;
  /** When the relay saw the change, with the batch period after it; undefined for a retry, and for a run under the lease of another one. */
  readonly seenMs?: number | undefined;
  /** When the wake-up was due. */
  readonly dueMs?: number | undefined;
  /** When the API server had accepted the last write. */
  readonly acceptedMs?: number | undefined;
  readonly endedMs: number;
  readonly writes: { readonly endpoints: number; readonly slices: number };
  /** Deletes, which `writes` counts too. */
  readonly deletes?: { readonly endpoints: number; readonly slices: number };
  /** How a controller ended that did not end well. */
  readonly endings: { readonly [C in Controller]?: Ending };
  /** Why the run did nothing, where that is not a controller's ending: the mode, a writer conflict. */
  readonly heldBack?: string | undefined;
  /** What a reader has to know beside: the mass-removal guard, a lease that was taken over. */
  readonly notes: readonly string[];
  /** Why what was there before the run is not known from the records before this one. */
  readonly gap?: string | undefined;
  /** The hub had saved no output of the Service as present, so the record begins with this run. */
  readonly isFirst?: boolean;
  /** Where the built-in controllers stay on: who writes the Service from this run on, for `opt-in` the hub. Undefined: the hub writes in their place. */
  readonly writer?: 'opt-in' | 'built-in' | 'none';
  /** Addresses that the run found otherwise than they were saved: another client had written them, at a time that is not known. */
  readonly foundOtherwise?: { readonly endpoints: number; readonly slices: number };
  /** The table refused what the run was to save, as it held something newer: the records after this one do not go on from its changes. */
  readonly isUnsaved?: boolean;
  readonly changes: readonly PodChange[];
  /** Changed pods that are not named. */
  readonly more: number;
  /** Runs in a row that ended like this one (repeats.ts); the first began at `atMs`, the last at `untilMs`. The table has a record of each. */
  readonly times: number;
  readonly untilMs: number;
}

/** From when on the API server had what the record says. */
export const effectiveMs = ({ acceptedMs, endedMs }: HistoryRecord): number => acceptedMs ?? endedMs;

/** The run read or wrote the Service's outputs in the cluster. */
export const isOfCluster = ({ writes, changes, more, isFirst, writer }: HistoryRecord): boolean =>
  writes.endpoints + writes.slices + changes.length + more > 0 || isFirst === true || writer !== undefined;

/** Is there anything in it that a reader would miss? */
export const isWorthKeeping = (r: HistoryRecord): boolean =>
  r.writes.endpoints + r.writes.slices > 0 ||
  Object.keys(r.endings).length > 0 ||
  r.heldBack !== undefined ||
  r.gap !== undefined ||
  r.isFirst === true ||
  r.changes.length + r.more > 0;
