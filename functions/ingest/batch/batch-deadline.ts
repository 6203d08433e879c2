/** A batch's time for writing objects: a table whose calls reject once it is up. */
import { defaultLimits } from '#shared/contract/limits.ts';
import type { Table } from '#shared/store/table.ts';

/** The batch's time for writing objects is up. When the message comes again, the objects that are written already are skipped. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

export interface TimeLimit {
  /** Every call rejects with OutOfTime once the time is up. */
  readonly table: Table;
  /** Throws OutOfTime once the time is up. */
  check(): void;
  /** From now on calls pass: the services of the written objects are notified, however long that takes. */
  lift(): void;
}

/**
 * `deadline`: when the worker is stopped, ms since the epoch. A worker that is stopped before it has notified the services has notified none of them, so
 * only the `writingShare` of the time until then is for writing.
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
