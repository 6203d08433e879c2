import { AsyncLocalStorage } from 'node:async_hooks';
import type { Fields } from './port.ts';

export interface Invocations {
  /**
   * Returns the log fields of the caller's invocation. They correlate its lines with each other and with
   * Lambda's report.
   */
  readonly fields: () => Fields;
  run<T>(context: { readonly awsRequestId: string }, work: () => Promise<T>): Promise<T>;
}

/**
 * Creates the state of a process, whose first invocation is its cold start. A local run has several
 * invocations at a time in one process.
 */
export function invocations(): Invocations {
  const current = new AsyncLocalStorage<Fields>();
  let coldStart = true;
  return {
    fields: () => current.getStore() ?? {},
    run({ awsRequestId }, work) {
      const fields = { requestId: awsRequestId, coldStart };
      coldStart = false;
      return current.run(fields, work);
    },
  };
}
