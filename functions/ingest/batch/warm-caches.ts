/** Caches of a warm ingest worker, and their limits. */
import { type IngestLimits, ingestDefaults } from '#shared/contract/ingest-limits.ts';
import type { ServiceSelector } from '#shared/membership/services-for-pod.ts';

/** Values that a warm worker keeps, of all clusters. Up to a weight in all; above it, the value that was used longest ago goes first. */
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

/** A cache as a batch uses it. */
export interface Cache<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** LruCache between batches by a warm worker; safe to lose. */
export interface WarmCaches {
  /** By "cluster/namespace". */
  readonly selectors: Cache<CachedSelectors>;
  /** Namespaces that are in the index of namespaces, by "cluster/namespace". */
  readonly namespaces: Cache<true>;
  /** By "cluster session". */
  readonly sessions: Cache<KnownSession>;
}

export const freshCaches = ({ maxSelectorBytes, maxNamespacesKept, maxSessionsKept }: IngestLimits = ingestDefaults) => ({
  // A namespace without services takes memory too.
  selectors: new LruCache<CachedSelectors>(maxSelectorBytes, ({ bytes }) => 500 + bytes),
  namespaces: new LruCache<true>(maxNamespacesKept),
  sessions: new LruCache<KnownSession>(maxSessionsKept),
});

/**
 * Cached namespaces are valid by numbers in their records. The records of a cluster that was removed, or of a table that was lost, are gone, and the
 * numbers begin at one when the cluster is registered again. Each value is therefore cached under the scope of its read, and later scopes do not find it.
 */
export function cachesInScope({ selectors, namespaces, ...others }: WarmCaches, scope: string): WarmCaches {
  return { ...others, selectors: scoped(selectors, scope), namespaces: scoped(namespaces, scope) };
}

const scoped = <V>(cache: Cache<V>, scope: string): Cache<V> => ({
  get: (key) => cache.get(`${key}@${scope}`),
  set: (key, value) => cache.set(`${key}@${scope}`, value),
  delete: (key) => cache.delete(`${key}@${scope}`),
});
