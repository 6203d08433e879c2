import type { Table } from '#shared/snapshot/table.ts';

/** The batch's time for writing objects is up. What was written is skipped when the message comes again. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * The share of a worker's time in which objects are written; the rest is for telling of them, which takes twice as many calls. A worker that is
 * stopped in between has told of nothing.
 */
const writingShare = 1 / 3;

export interface TimeLimit {
  /** Every call rejects with OutOfTime once the time is up. */
  readonly table: Table;
  /** What was written is told of now, however long it takes. */
  lift(): void;
}

/** `deadline`: when the worker is stopped, ms since the epoch. */
export function timeLimit(table: Table, now: () => number, deadline: number): TimeLimit {
  let until = now() + (deadline - now()) * writingShare;
  const inTime =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (now() > until) throw new OutOfTime('too little time left to write more');
      return call(...args);
    };
  return {
    table: {
      ...table,
      get: inTime(table.get),
      query: inTime(table.query),
      put: inTime(table.put),
      update: inTime(table.update),
      delete: inTime(table.delete),
    },
    lift: () => {
      until = Number.POSITIVE_INFINITY;
    },
  };
}
