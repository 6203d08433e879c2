/** The outbox of one kind: entries that wait, entries in flight, and the version up to which the queue has accepted everything. */
import type { Kind } from '#shared/kube/types.ts';
import { sizeOf } from '#shared/queue/message-size.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { isInput } from '../projection/entries.ts';
import { isNewer } from '../source/resource-version.ts';

export interface Pending {
  readonly key: string;
  readonly entry: Entry;
  readonly bytes: number;
  /** The version up to which the kind had been read just before this state. */
  readonly readBefore: string;
  /** See `Reading`. */
  readonly isEcho: boolean;
}

/** How a state was read. */
export interface Reading {
  readonly nowMs: number;
  /** The hub wrote this state. It mostly wakes no service, so it can wait for other entries. */
  readonly isEcho: boolean;
}

/** The entries of one kind: waiting, and in flight. */
export class KindQueue {
  readonly kind: Kind;
  readonly group: 'inputs' | 'outputs';
  readonly waiting = new Map<string, Pending>();
  readonly underWay = new Set<readonly Pending[]>();
  bytes = 0;
  /** Since when entries wait, ms; undefined while the queue is empty. */
  waitingSinceMs: number | undefined;
  /** Keys of the waiting entries that are no echoes. */
  readonly #prompt = new Set<string>();
  readUpTo: string | undefined;

  constructor(kind: Kind) {
    this.kind = kind;
    this.group = isInput(kind) ? 'inputs' : 'outputs';
  }

  put(key: string, entry: Entry, { nowMs, isEcho }: Reading): void {
    const pending = { key, entry, bytes: sizeOf(entry), readBefore: this.readUpTo ?? entry.rv, isEcho };
    this.readUpTo = entry.rv;
    this.waitingSinceMs ??= nowMs;
    this.#merge(pending);
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

  /** The newest version up to which the queue has accepted every entry of this relay. */
  get acceptedUpTo(): string | undefined {
    let accepted = this.readUpTo;
    for (const { readBefore } of this.#unaccepted()) if (accepted === undefined || isNewer(accepted, readBefore)) accepted = readBefore;
    return accepted;
  }

  clear(): void {
    for (const key of this.waiting.keys()) this.#remove(key);
  }

  /** True if only echoes wait. */
  get hasEchoesAlone(): boolean {
    return this.#prompt.size === 0;
  }

  *#unaccepted(): Iterable<Pending> {
    yield* this.waiting.values();
    for (const pending of this.underWay) yield* pending;
  }

  /** Merging two waiting moves of a slice, A→B and B→C, gives A→C: the hub never learned of B. */
  #merge(pending: Pending): void {
    const waiting = this.waiting.get(pending.key);
    const entry = fromFormerService(waiting?.entry, pending.entry);
    // The merged move is not accepted before this entry is.
    const readBefore = waiting && 'oldSvc' in waiting.entry ? waiting.readBefore : pending.readBefore;
    this.#set(pending.key, { ...pending, entry, readBefore });
  }

  #set(key: string, pending: Pending): void {
    const since = this.waitingSinceMs;
    this.#remove(key);
    this.waitingSinceMs = since;
    this.waiting.set(key, pending);
    this.bytes += pending.bytes;
    if (!pending.isEcho) this.#prompt.add(key);
  }

  #remove(key: string): void {
    this.bytes -= this.waiting.get(key)?.bytes ?? 0;
    this.waiting.delete(key);
    this.#prompt.delete(key);
    if (this.waiting.size === 0) this.waitingSinceMs = undefined;
  }
}

function fromFormerService(waiting: Entry | undefined, entry: Entry): Entry {
  if (!waiting || !('oldSvc' in waiting) || waiting.oldSvc === undefined || !('svc' in entry)) return entry;
  const { oldSvc: _, ...rest } = entry;
  return waiting.oldSvc === entry.svc ? rest : { ...rest, oldSvc: waiting.oldSvc };
}
