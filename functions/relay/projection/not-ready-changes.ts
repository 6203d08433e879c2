import type { InputEntry } from '#shared/queue/messages.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { projectionHash } from './projection-hash.ts';

/** How long a change is gathered, ms: a container that crashes at once is back in its former state by then. */
const gatherMs = 30_000;
/** Shortest time between two sends for a pod, ms. */
const pauseMs = 60_000;
/** Pods that are not ready, at some 150 bytes each, and changes that are gathered, at some 600 bytes. */
const bounds = { pods: 20_000, changes: 2_000 };

interface Sent {
  readonly hash: number;
  readonly atMs: number;
}
interface Change {
  readonly entry: InputEntry;
  readonly sinceMs: number;
}

/**
 * Changes of why a pod is not ready, where nothing of its projection changes. Nothing depends on them but
 * answers, so they are gathered, are sent at most once a minute a pod, and are dropped beyond the bounds: the
 * next change of the pod or the next list has the state.
 */
export class NotReadyChanges {
  readonly #clock: Runtime['clock'];
  readonly #put: (key: string, entry: InputEntry) => void;
  /** What the hub knows. A pod without an entry here has no reasons that the hub knows. */
  readonly #sent = new Map<string, Sent>();
  readonly #changes = new Map<string, Change>();
  #cancel: (() => void) | undefined;

  constructor({ clock }: Pick<Runtime, 'clock'>, put: (key: string, entry: InputEntry) => void) {
    this.#clock = clock;
    this.#put = put;
  }

  /** The entry is sent anyway. */
  sent(key: string, { notReady }: Pick<InputEntry, 'notReady'>): void {
    this.#changes.delete(key);
    if (notReady === undefined) this.#sent.delete(key);
    else if (this.#sent.has(key) || this.#sent.size < bounds.pods)
      this.#sent.set(key, { hash: projectionHash(notReady), atMs: this.#clock.monotonic() });
  }

  /** The pod was read again, and its projection has not changed. */
  seen(key: string, entry: InputEntry): void {
    const { notReady } = entry;
    const known = this.#sent.get(key);
    if (notReady === undefined && !known) return;
    if (notReady !== undefined && projectionHash(notReady) === known?.hash) {
      this.#changes.delete(key);
      return;
    }
    const sinceMs = this.#changes.get(key)?.sinceMs;
    const isFull = this.#changes.size >= bounds.changes || (!known && this.#sent.size >= bounds.pods);
    if (sinceMs === undefined && isFull) return;
    this.#changes.set(key, { entry, sinceMs: sinceMs ?? this.#clock.monotonic() });
    this.#arm();
  }

  forget(key: string): void {
    this.#sent.delete(key);
    this.#changes.delete(key);
  }

  clear(): void {
    this.#sent.clear();
    this.#changes.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    if (this.#cancel || this.#changes.size === 0) return;
    const dueMs = Math.min(...[...this.#changes.keys()].map((key) => this.#dueMs(key)));
    this.#cancel = this.#clock.after(Math.max(1, dueMs - this.#clock.monotonic()), () => {
      this.#cancel = undefined;
      this.#sendDue();
      this.#arm();
    });
  }

  #dueMs(key: string): number {
    const sinceMs = this.#changes.get(key)?.sinceMs ?? 0;
    const sentMs = this.#sent.get(key)?.atMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(sinceMs + gatherMs, sentMs + pauseMs);
  }

  #sendDue(): void {
    const nowMs = this.#clock.monotonic();
    for (const [key, { entry }] of this.#changes) {
      if (this.#dueMs(key) > nowMs) continue;
      this.sent(key, entry);
      this.#put(key, entry);
    }
  }
}
