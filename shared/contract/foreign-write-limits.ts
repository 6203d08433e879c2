/** Limits of writes of other managers to objects of ours (functions/sync/guards/foreign-writes.ts). */
export interface ForeignWriteLimits {
  /** With so many writes within the window (ms) a service is contested: not written for as long, and twice as long each time. */
  readonly toleratedForeignWrites: number;
  readonly foreignWritesMs: number;
  /** The longest such stop, ms; after as long a time without one the next is the shortest again. No message waits longer in SQS. */
  readonly maxContestedMs: number;
  /** A manager that writes to so many services of so many namespaces within the window (ms) is a second writer of the cluster. */
  readonly foreignServices: number;
  readonly foreignNamespaces: number;
  readonly foreignServicesMs: number;
}

export const foreignWriteDefaults: ForeignWriteLimits = {
  toleratedForeignWrites: 5,
  foreignWritesMs: 60_000,
  maxContestedMs: 900_000,
  foreignServices: 10,
  foreignNamespaces: 3,
  foreignServicesMs: 300_000,
};
