/**
 * client-go's work queue (docs/behaviour.md 3) as a record with generations. Pure: what a message means to a record, and the
 * record after an outcome. What order the record is read, claimed, written and messages are sent in is the worker's.
 */

/** Upstream's maxRetries: the first try and 15 more, then the work is parked. */
export const maxRetries = 15;

export type WorkPart = 'ep' | 'sl';
export const workParts: readonly WorkPart[] = ['ep', 'sl'];

export interface PartState {
  /** The newest generation that the outputs are known to cover. */
  readonly done: number;
  /** Failures in a row of this key; faults of the cluster are not counted. */
  readonly tries: number;
  /** Number of the newest chain message; only grows, and is always set to a number that was sent. */
  readonly seq: number;
  /** The generation which that chain message covers, and when it is due (ms since the epoch). */
  readonly rg: number;
  readonly at: number;
}

export interface Lease {
  readonly id: string;
  /** ms since the epoch. */
  readonly until: number;
  /** The generation that the run under way covers; undefined where its holder did not say. */
  readonly covers?: number | undefined;
}

export interface WorkItem {
  readonly gen: number;
  /** Outputs are to be read live until this generation is done. */
  readonly live: number;
  readonly lease: Lease | undefined;
  readonly dirtyAt: number | undefined;
  /** When a run ended last, however it ended, ms since the epoch; 0 for never. */
  readonly ranAt: number;
  readonly parts: { readonly [P in WorkPart]: PartState };
  /** Text of store/triggers.ts, which rides along so that it costs no write of its own; undefined when it is kept in items of its own, or there is none. */
  readonly triggers: string | undefined;
}

export type Seq = { readonly [P in WorkPart]?: number };

export const cleanPart: PartState = { done: 0, tries: 0, seq: 0, rg: 0, at: 0 };
export const noWork: WorkItem = {
  gen: 0,
  live: 0,
  lease: undefined,
  dirtyAt: undefined,
  ranAt: 0,
  parts: { ep: cleanPart, sl: cleanPart },
  triggers: undefined,
};

/**
 * The parts of the message that there is still reason to run. A part goes when it is done (by the record's own generation, which may
 * be behind the message's after a table was restored), or when a newer chain message is out for what it covers.
 */
export function partsToRun(message: { readonly gen: number; readonly seq: Seq }, work: WorkItem): readonly WorkPart[] {
  const gen = Math.min(message.gen, work.gen);
  return workParts.filter((p) => {
    const seq = message.seq[p];
    if (seq === undefined) return false;
    const { done, rg, seq: newest } = work.parts[p];
    return done < gen && !(gen <= rg && seq < newest);
  });
}

/** The generation of a message that stands for whatever is owed when it is handled. */
export const anyGeneration = Number.MAX_SAFE_INTEGER;

export const isLeased = (work: WorkItem, now: number): boolean => work.lease !== undefined && work.lease.until > now;

/** Is another run to come under the lease, or to be sent for, which begins after this record was read? */
export const owesAnother = ({ gen, lease }: WorkItem): boolean => lease?.covers !== undefined && lease.covers < gen;

export const isClean = (work: WorkItem): boolean => workParts.every((p) => work.parts[p].done >= work.gen);

/** Number of the part's next chain message: above every number that was sent, whoever sent it. */
export const nextSeq = (part: PartState, messageSeq: number | undefined): number => Math.max(part.seq, messageSeq ?? 0) + 1;

/** The part after a run that covered generation `captured`. */
export const succeeded = (part: PartState, captured: number): PartState => ({ ...part, done: captured, tries: 0 });

/** Has this failure used up the retries? Then the work is parked, unless a retry waits all the same. */
export const isExhausted = (part: PartState): boolean => part.tries + 1 > maxRetries;

/** The part whose retries are used up, but not its times: what still waits starts afresh. */
export const forgotten = (part: PartState): PartState => ({ ...part, tries: 0 });

/** The part after its work was parked: done until the next change, which starts afresh. */
export const parked = (part: PartState, captured: number): PartState => forgotten({ ...part, done: captured });

/** The part put off, whose run failed. */
export const failed = (part: PartState): PartState => ({ ...part, tries: part.tries + 1 });

/** The part put off, with its waiting message sent. */
export const deferred = (part: PartState, captured: number, seq: number, at: number): PartState => ({ ...part, seq, rg: captured, at });

/** A message that is about to be received may find the lease of the run that rests on it. */
const marginMs = 500;

/**
 * May a run that is put off, or to be tried again, rest on the chain message that is already out and comes no later, so that a part keeps one
 * message however many events come in? Not if the message in hand is that very one, which would delete itself.
 */
export function canAbsorb(part: PartState, messageSeq: number | undefined, now: number, waitMs: number): boolean {
  return part.rg > part.done && now < part.at - marginMs && part.at <= now + waitMs && (messageSeq ?? 0) < part.seq;
}

export const absorbed = (part: PartState, captured: number): PartState => ({ ...part, rg: captured });
