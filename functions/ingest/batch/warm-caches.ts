/** Caches of a warm ingest worker, and their limits. */
import { type IngestLimits, ingestDefaults } from '#shared/contract/ingest-limits.ts';
import type { ServiceSelector } from '#shared/controllers/membership/services-for-pod.ts';

/**
 * Values that a warm worker keeps, of all clusters. Up to a weight in all; above it, the value that was used
 * longest ago goes first.
 */
export class LruCache<V> {
  readonly #values = new Map<string, V>();
  readonly #most: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  constructor(most: number, weigh: (value: V) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    for (const other of this.#values.keys()) {
      if (this.#weight <= this.#most || other === key) return;
      this.delete(other);
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#weight -= this.#weigh(value);
  }

  keys(): readonly string[] {
    return [...this.#values.keys()];
  }
}

/** The selectors of a namespace's Services at a version of their set. A Service itself may have 256 KB. */
export interface CachedSelectors {
  readonly version: number;
  readonly services: readonly ServiceSelector[];
  /** Estimate of their memory. */
  readonly bytes: number;
}

/** A session's incarnation, and when its record was read, ms since the epoch. */
export interface KnownSession {
  readonly incarnation: number;
  readonly readAtMs: number;
}

/**
 * The caches that a warm worker keeps between batches; safe to lose. Cached selectors and namespaces are
 * valid by numbers in their records. These records are gone when a cluster was removed or the table was lost,
 * and their numbers begin at one again. Keys therefore contain the cluster's `cacheScope`.
 */
export interface WarmCaches {
  /** By "cluster/namespace", with `cacheScope`. */
  readonly selectors: LruCache<CachedSelectors>;
  /** Namespaces that are in the index of namespaces, by "cluster/namespace", with `cacheScope`. */
  readonly namespaces: LruCache<true>;
  /** By "cluster session". */
  readonly sessions: LruCache<KnownSession>;
}

export const freshCaches = ({
  maxSelectorBytes,
  maxNamespacesKept,
  maxSessionsKept,
}: IngestLimits = ingestDefaults): WarmCaches => ({
  // A namespace without services takes memory too.
  selectors: new LruCache<CachedSelectors>(maxSelectorBytes, ({ bytes }) => 500 + bytes),
  namespaces: new LruCache<true>(maxNamespacesKept),
  sessions: new LruCache<KnownSession>(maxSessionsKept),
});
