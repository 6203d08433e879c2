/**
 * The Lease of a cluster without HTTP: written under the condition of its version, as the API server does.
 */
import type { Lease } from '#functions/relay/election/lease.ts';
import type { LeaseStore } from '#functions/relay/election/lease-store.ts';

export interface MemoryLease {
  /** The current Lease. A test may set it, like a restored etcd. */
  now: Lease | undefined;
  /** As one relay sees it: `call` takes the time that a call takes, and may fail. */
  store(call: <T>(what: string, effect: () => T) => Promise<T>): LeaseStore;
}

export function memoryLease(): MemoryLease {
  let versions = 0;
  const lease: MemoryLease = {
    now: undefined,
    store: (call) => ({
      read: () => call('read', () => lease.now),
      write: (content, over) =>
        call(`write ${content.holder}`, () => {
          if (over?.resourceVersion !== lease.now?.resourceVersion) return undefined;
          lease.now = { ...content, resourceVersion: String(++versions) };
          return lease.now;
        }),
    }),
  };
  return lease;
}
