import { isInput, type Kind } from '#shared/kube/types.ts';
import { sizeOf } from '#shared/queue/message-size.ts';
import type { Entry } from '#shared/queue/messages.ts';

export interface Pending {
  readonly key: string;
  readonly entry: Entry;
  readonly bytes: number;
}

/** How a state was read. */
export interface Reading {
  readonly nowMs: number;
  /** The hub wrote this state. It mostly wakes no service, so it can wait for other entries. */
  readonly isEcho: boolean;
}

/** The waiting entries of one kind. */
export class KindQueue {
  readonly kind: Kind;
  readonly group: 'inputs' | 'outputs';
  readonly waiting = new Map<string, Pending>();
  bytes = 0;
  /** Since when entries wait, ms; undefined while the queue is empty. */
  waitingSinceMs: number | undefined;
  /** Keys of the waiting entries that are no echoes. */
  readonly #prompt = new Set<string>();

  constructor(kind: Kind) {
    this.kind = kind;
    this.group = isInput(kind) ? 'inputs' : 'outputs';
  }

  put(key: string, entry: Entry, { nowMs, isEcho }: Reading): void {
    const sinceMs = this.waitingSinceMs ?? nowMs;
    const merged = fromFormerService(this.waiting.get(key)?.entry, entry);
    const bytes = sizeOf(merged);
    this.#remove(key);
    this.waiting.set(key, { key, entry: merged, bytes });
    this.bytes += bytes;
    if (!isEcho) this.#prompt.add(key);
    this.waitingSinceMs = sinceMs;
  }

  /** Takes the oldest entries, up to either limit, but at least one. */
  take(maxEntries: number, maxBytes: number): Pending[] {
    const taken: Pending[] = [];
    let bytes = 0;
    for (const [key, pending] of this.waiting) {
      if (taken.length === maxEntries || (taken.length > 0 && bytes + pending.bytes > maxBytes)) break;
      taken.push(pending);
      bytes += pending.bytes;
      this.#remove(key);
    }
    return taken;
  }

  clear(): void {
    for (const key of this.waiting.keys()) this.#remove(key);
  }

  /** True if only echoes wait. */
  get hasEchoesAlone(): boolean {
    return this.#prompt.size === 0;
  }

  #remove(key: string): void {
    this.bytes -= this.waiting.get(key)?.bytes ?? 0;
    this.waiting.delete(key);
    this.#prompt.delete(key);
    if (this.waiting.size === 0) this.waitingSinceMs = undefined;
  }
}

/**
 * The hub does not learn of a state that is replaced while it waits. Two moves of a slice, A→B and B→C, give
 * A→C, and so do its deletion from A and a new slice of that name for C.
 */
function fromFormerService(waiting: Entry | undefined, entry: Entry): Entry {
  if (!waiting || !('service' in waiting) || !('service' in entry)) return entry;
  const { formerService: _, ...rest } = entry;
  const former = waiting.formerService ?? waiting.service;
  return former === '' || former === entry.service ? rest : { ...rest, formerService: former };
}
