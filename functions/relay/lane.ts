import type { Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { isInput } from './project.ts';

export interface Pending {
  readonly entry: Entry;
  readonly bytes: number;
  /** What had been read of the kind just before this state. */
  readonly before: string;
}

/** What waits and what is under way of one kind. */
export class Lane {
  readonly kind: Kind;
  readonly group: 'inputs' | 'outputs';
  readonly waiting = new Map<string, Pending>();
  readonly underWay = new Set<readonly Pending[]>();
  bytes = 0;
  read: string | undefined;

  constructor(kind: Kind) {
    this.kind = kind;
    this.group = isInput(kind) ? 'inputs' : 'outputs';
  }

  put(key: string, pending: Pending): void {
    this.remove(key);
    this.waiting.set(key, pending);
    this.bytes += pending.bytes;
  }

  /** The oldest, up to either limit, but at least one. */
  take(maxEntries: number, maxBytes: number): Pending[] {
    const taken: Pending[] = [];
    let bytes = 0;
    for (const [key, pending] of this.waiting) {
      if (taken.length === maxEntries || (taken.length > 0 && bytes + pending.bytes > maxBytes)) break;
      taken.push(pending);
      bytes += pending.bytes;
      this.remove(key);
    }
    return taken;
  }

  *unaccepted(): Iterable<Pending> {
    yield* this.waiting.values();
    for (const pending of this.underWay) yield* pending;
  }

  clear(): void {
    this.waiting.clear();
    this.bytes = 0;
  }

  private remove(key: string): void {
    this.bytes -= this.waiting.get(key)?.bytes ?? 0;
    this.waiting.delete(key);
  }
}

/** A slice that moved while an earlier move of it still waits comes from where that one began: nobody was told of the stop between. */
export function fromFormerService(waiting: Entry | undefined, entry: Entry): Entry {
  if (!waiting || !('oldSvc' in waiting) || waiting.oldSvc === undefined || !('svc' in entry)) return entry;
  const { oldSvc: _, ...rest } = entry;
  return waiting.oldSvc === entry.svc ? rest : { ...rest, oldSvc: waiting.oldSvc };
}
