/** Limits on other managers' writes to our objects (functions/sync/guards/foreign-writes.ts). */
import type { Numbers } from './limit-table.ts';

export const foreignWriteDefaults = {
  /** Sync stops writing a service for a time after this many foreign writes within `foreignWritesMs`. */
  toleratedForeignWrites: 5,
  /** The window of these writes, and the length of the first stop, ms. It doubles with each further stop. */
  foreignWritesMs: 60_000,
  /**
   * Maximum length of a stop, ms: an SQS message cannot wait longer. After as long without a stop the next
   * one has the minimum length again.
   */
  maxConflictMs: 900_000,
  /**
   * A manager that writes to this many services, in `foreignNamespaces` and within `foreignServicesMs`, is a
   * second writer of the cluster.
   */
  foreignServices: 10,
  /** Minimum number of namespaces of these services. */
  foreignNamespaces: 3,
  /** The window of these writes, ms. */
  foreignServicesMs: 300_000,
};
export type ForeignWriteLimits = Numbers<typeof foreignWriteDefaults>;
