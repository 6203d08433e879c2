import { defaultLimits } from '#shared/contract/limits.ts';
import type { Table } from '#shared/store/table.ts';

/** The batch's time for writing objects is up. What was written is skipped when the message comes again. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

export interface TimeLimit {
  /** Every call rejects with OutOfTime once the time is up. */
  readonly table: Table;
  /** Throws OutOfTime once the time is up. */
  check(): void;
  /** What was written is told of now, however long it takes. */
  lift(): void;
}

/**
 * `deadline`: when the worker is stopped, ms since the epoch; one that is stopped before it has told of what it wrote has told of nothing.
 * `writingShare`: of the time until then, for writing.
 */
export function timeLimit(table: Table, now: () => number, deadline: number, writingShare: number = defaultLimits.ingest.writingShare): TimeLimit {
  let until = now() + (deadline - now()) * writingShare;
  const check = (): void => {
    if (now() > until) throw new OutOfTime('too little time left to write more');
  };
  const inTime =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      check();
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
    check,
    lift: () => {
      until = Number.POSITIVE_INFINITY;
    },
  };
}
