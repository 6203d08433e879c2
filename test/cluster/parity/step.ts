import type { Hands } from './hands.ts';
import type { OpenEnds } from './snapshot.ts';

/** One change, or several of one kind, after which everything is to settle. */
export interface Step {
  readonly what: string;
  play(hands: Hands): Promise<unknown>;
  /** What shows that the step has had its effect, where that takes longer than everything else, or would be missed if it had none. */
  until?(hands: Hands): boolean | Promise<boolean>;
  /** What is open after this step, beside what is open throughout (script.ts). */
  readonly open?: OpenEnds;
  /**
   * Several objects change. Upstream then leaves open which trigger time is last: a sync that finds what it knows to be out of date has used up
   * the times all the same, and its repetition writes without (TT-14).
   */
  readonly several?: true;
  /** Where ours departs from upstream on purpose: the row of docs/parity.md, and what of the snapshot differs by it. */
  readonly deliberate?: { readonly row: string; readonly of: string };
  /** A service fails in this state and is tried again and again, whoever writes. */
  readonly failing?: true;
}

/** Steps that belong together, in their order. */
export type Chapter = readonly Step[];
