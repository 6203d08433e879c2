import type { Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { sizeOf } from './message-size.ts';
import { isInput } from './project.ts';
import { isNewer } from './resource-version.ts';

export interface Pending {
  readonly key: string;
  readonly entry: Entry;
  readonly bytes: number;
  /** What had been read of the kind just before this state. */
  readonly readBefore: string;
}

/**
 * What waits and what is under way of one kind. In a standby everything waits until the speaking relay says that the queue has accepted
 * as much: what it has read and the other one may not have told.
 */
export class KindQueue {
  readonly kind: Kind;
  readonly group: 'inputs' | 'outputs';
  readonly waiting = new Map<string, Pending>();
  readonly underWay = new Set<readonly Pending[]>();
  bytes = 0;
  readUpTo: string | undefined;
  /** The queue is known to have accepted everything up to this version, by whichever relay. */
  knownAccepted: string | undefined;
  /** What is in the cluster as of this version was read and not sent, nor kept: only a list can tell it. */
  listNeededAt: string | undefined;
  /**
   * A list is being sent. The hub leaves a former list unfinished from the first page of this one on, so this one has to be finished, be it by
   * another relay.
   */
  #isListing = false;

  constructor(kind: Kind) {
    this.kind = kind;
    this.group = isInput(kind) ? 'inputs' : 'outputs';
  }

  /** `held`: for a standby. What the speaking relay may have sent as two states must not become one. */
  put(key: string, entry: Entry, held: boolean): void {
    const pending = { key, entry, bytes: sizeOf(entry), readBefore: this.readUpTo ?? entry.rv };
    this.readUpTo = entry.rv;
    if (held) this.#set(heldKey(pending), pending);
    else this.#merge(pending);
  }

  /** The oldest, up to either limit, but at least one. */
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

  /** The newest version up to which the queue has accepted everything from this relay. */
  get acceptedUpTo(): string | undefined {
    let accepted = this.readUpTo;
    for (const { readBefore } of this.#unaccepted()) if (accepted === undefined || isNewer(accepted, readBefore)) accepted = readBefore;
    return accepted;
  }

  clear(): void {
    this.waiting.clear();
    this.bytes = 0;
  }

  /** The relay stands by from now on: what was under way may have been accepted or not. */
  onStandBy(): void {
    if (this.#isListing && this.readUpTo !== undefined) this.#leaveToList(this.readUpTo);
    else if (this.listNeededAt === undefined) this.knownAccepted = this.acceptedUpTo;
    this.#isListing = false;
    const all = [...this.#unaccepted()].sort((a, b) => (isNewer(a.entry.rv, b.entry.rv) ? 1 : -1));
    this.underWay.clear();
    this.clear();
    for (const pending of all) this.#set(heldKey(pending), pending);
  }

  /** The relay speaks from now on: of each object only the newest state waits. */
  onLead(): void {
    const all = [...this.waiting.values()];
    this.clear();
    for (const pending of all) this.#merge(pending);
  }

  /**
   * The queue has accepted everything up to this version, says the speaking relay. Not believed of what this one has not read itself:
   * should the cluster have been restored, then the other one may not have noticed yet.
   */
  dropAccepted(accepted: string): void {
    if (this.readUpTo === undefined || isNewer(accepted, this.readUpTo)) return;
    if (this.knownAccepted === undefined || isNewer(accepted, this.knownAccepted)) this.knownAccepted = accepted;
    for (const [key, { entry }] of this.waiting) if (!isNewer(entry.rv, accepted)) this.#remove(key);
    if (this.listNeededAt !== undefined && !isNewer(this.listNeededAt, accepted)) this.listNeededAt = undefined;
  }

  /** Everything up to this version is left to a list that is still to be sent. */
  needList(version: string): void {
    this.clear();
    this.readUpTo = version;
    this.listNeededAt = version;
  }

  /** Of the relay that speaks. If it does not name the kind any more, then it may have begun a list that this one would have to finish. */
  onLeaderAccepted(accepted: string | undefined): void {
    if (accepted !== undefined) this.dropAccepted(accepted);
    else if (this.needsNoList && this.readUpTo !== undefined) this.#leaveToList(this.readUpTo);
  }

  /** From now on until the list has been sent nothing is told to the standbys. */
  beginList(): void {
    this.#isListing = true;
  }

  /** A list of that version has been sent. */
  onListSent(version: string): void {
    this.#isListing = false;
    if (this.listNeededAt !== undefined && !isNewer(this.listNeededAt, version)) this.listNeededAt = undefined;
  }

  /** What to tell the standbys. Undefined: nothing is known. */
  publishable(speaks: boolean): string | undefined {
    if (this.#isListing) return undefined;
    return speaks && this.listNeededAt === undefined ? this.acceptedUpTo : this.knownAccepted;
  }

  /** It has been read, and no list of it has to be sent. */
  get needsNoList(): boolean {
    return this.readUpTo !== undefined && this.listNeededAt === undefined;
  }

  #leaveToList(version: string): void {
    this.knownAccepted = undefined;
    this.needList(version);
  }

  *#unaccepted(): Iterable<Pending> {
    yield* this.waiting.values();
    for (const pending of this.underWay) yield* pending;
  }

  /** A slice that moved while an earlier move of it still waits comes from where that one began: nobody was told of the stop between. */
  #merge(pending: Pending): void {
    const waiting = this.waiting.get(pending.key);
    const entry = fromFormerService(waiting?.entry, pending.entry);
    // What is merged into it is not accepted before it is.
    const readBefore = waiting && 'oldSvc' in waiting.entry ? waiting.readBefore : pending.readBefore;
    this.#set(pending.key, { ...pending, entry, readBefore });
  }

  #set(key: string, pending: Pending): void {
    this.#remove(key);
    this.waiting.set(key, pending);
    this.bytes += pending.bytes;
  }

  #remove(key: string): void {
    this.bytes -= this.waiting.get(key)?.bytes ?? 0;
    this.waiting.delete(key);
  }
}

const heldKey = ({ key, entry }: Pending): string => ('oldSvc' in entry ? `${key} ${entry.rv}` : key);

function fromFormerService(waiting: Entry | undefined, entry: Entry): Entry {
  if (!waiting || !('oldSvc' in waiting) || waiting.oldSvc === undefined || !('svc' in entry)) return entry;
  const { oldSvc: _, ...rest } = entry;
  return waiting.oldSvc === entry.svc ? rest : { ...rest, oldSvc: waiting.oldSvc };
}
