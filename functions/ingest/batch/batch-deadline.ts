/** The batch's time for writing objects is up. When the message comes again, the objects that are written already are skipped. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * Returns a function that throws OutOfTime once the time for writing is up. `deadline`: when the worker is stopped, ms since the epoch. A worker that is
 * stopped before it has notified the services has notified none of them, so only the `writingShare` of the time until then is for writing.
 */
export function timeCheck(now: () => number, deadline: number, writingShare: number): () => void {
  const until = now() + (deadline - now()) * writingShare;
  return () => {
    if (now() > until) throw new OutOfTime('too little time left to write more');
  };
}
