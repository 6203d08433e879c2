/** The Lease of a cluster without HTTP: written under the condition of its version, as the API server does. */
import type { Lease } from '#functions/relay/lease.ts';
import type { LeaseStore } from '#functions/relay/lease-store.ts';

export interface MemoryLease {
  /** What is there. */
  readonly now: Lease | undefined;
  /** As one relay sees it: `reach` is awaited before each call, and may reject. */
  store(reach: (signal: AbortSignal) => Promise<void>): LeaseStore;
}

export function memoryLease(): MemoryLease {
  let now: Lease | undefined;
  let versions = 0;
  return {
    get now() {
      return now;
    },
    store: (reach) => ({
      async read(signal) {
        await reach(signal);
        return now;
      },
      async write(content, over, _taken, signal) {
        await reach(signal);
        if (over?.resourceVersion !== now?.resourceVersion) return undefined;
        now = { ...content, resourceVersion: String(++versions) };
        return now;
      },
    }),
  };
}
