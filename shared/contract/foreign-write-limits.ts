/** Limits on other managers' writes to our objects (functions/sync/guards/foreign-writes.ts). */
import type { Numbers } from './limit-table.ts';

export const foreignWriteDefaults = {
  /**
   * A service with this many foreign writes within the window (ms) is contested. Sync does not write it for
   * the same time, which doubles with each stop.
   */
  toleratedForeignWrites: 5,
  foreignWritesMs: 60_000,
  /**
   * Maximum length of a stop, ms: an SQS message cannot wait longer. After as long without a stop the next
   * one has the minimum length again.
   */
  maxContestedMs: 900_000,
  /**
   * A manager that writes to this many services in this many namespaces within the window (ms) is a second
   * writer of the cluster.
   */
  foreignServices: 10,
  foreignNamespaces: 3,
  foreignServicesMs: 300_000,
};
export type ForeignWriteLimits = Numbers<typeof foreignWriteDefaults>;
