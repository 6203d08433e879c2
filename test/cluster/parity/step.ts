import type { Hands } from './hands.ts';
import type { OpenEnds } from './snapshot.ts';

/** One change, or several of one kind, after which everything is to settle. */
export interface Step {
  readonly what: string;
  play(hands: Hands): Promise<unknown>;
  /** Condition for the effect of the step, if the effect takes long or could be missed. */
  until?(hands: Hands): boolean | Promise<boolean>;
  /** Unspecified details after this step, in addition to those of all steps (script.ts). */
  readonly open?: OpenEnds;
  /**
   * Several objects change. Upstream then leaves open which trigger time is last: a sync that finds what it
   * knows to be out of date has used up the times all the same, and its repetition writes without (TT-14).
   */
  readonly several?: true;
  /**
   * Where ours departs from upstream on purpose: the row of reference/parity.md, and what of the snapshot differs
   * by it.
   */
  readonly deliberate?: { readonly row: string; readonly of: string };
  /** A service fails in this state and is retried by either writer. */
  readonly failing?: true;
}

/** Steps that belong together, in their order. */
export type Chapter = readonly Step[];
