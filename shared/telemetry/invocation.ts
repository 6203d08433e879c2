import { AsyncLocalStorage } from 'node:async_hooks';
import type { Fields } from './port.ts';

export interface Invocations {
  /** Of the invocation that the caller runs in: what joins its lines with each other, and with those of Lambda about its end. */
  readonly fields: () => Fields;
  run<T>(context: { readonly awsRequestId: string }, work: () => Promise<T>): Promise<T>;
}

/** One for a process, whose first invocation is its cold start. A local run has several at a time in one process. */
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
