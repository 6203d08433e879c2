/** Limits on other managers' writes to our objects (functions/sync/guards/foreign-writes.ts). */
export interface ForeignWriteLimits {
  /** A service with this many foreign writes within the window (ms) is contested. Sync does not write it for the same time, which doubles with each stop. */
  readonly toleratedForeignWrites: number;
  readonly foreignWritesMs: number;
  /** Maximum length of a stop, ms. After the same time without a stop the next stop has the minimum length again. Messages in SQS cannot wait longer. */
  readonly maxContestedMs: number;
  /** A manager that writes to this many services in this many namespaces within the window (ms) is a second writer of the cluster. */
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
