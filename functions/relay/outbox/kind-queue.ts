/** The outbox of one kind: entries that wait, entries in flight, and the version up to which the queue has accepted everything. */
import type { Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { sizeOf } from '../projection/message-size.ts';
import { isInput } from '../projection/project.ts';
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
  /** In a standby. Two moves of a slice that the leader may have sent as two entries must not become one. */
  readonly held: boolean;
  /** The hub wrote it: as nothing follows from it as a rule, it can wait for others. */
  readonly isEcho: boolean;
}

/**
 * The entries of one kind: waiting, and in flight. In a standby an entry waits until the leader publishes a version that includes it: the standby has read
 * it, and the leader may not have sent it.
 */
export class KindQueue {
  readonly kind: Kind;
  readonly group: 'inputs' | 'outputs';
  readonly waiting = new Map<string, Pending>();
  readonly underWay = new Set<readonly Pending[]>();
  bytes = 0;
  /** Since when entries wait, ms; undefined: none does, or it is not known. */
  waitingSinceMs: number | undefined;
  /** Keys of the waiting entries that are no echoes. */
  readonly #prompt = new Set<string>();
  readUpTo: string | undefined;
  /** The queue is known to have accepted every entry up to this version, from this relay or another. */
  knownAccepted: string | undefined;
  /** The state as of this version was read and neither sent nor kept: only a list can deliver it. */
  listNeededAt: string | undefined;
  /** A list is being sent. From its first page on the hub drops an unfinished former list, so that this one has to be finished, if need be by another relay. */
  #isListing = false;

  constructor(kind: Kind) {
    this.kind = kind;
    this.group = isInput(kind) ? 'inputs' : 'outputs';
  }

  put(key: string, entry: Entry, { nowMs, held, isEcho }: Reading): void {
    const pending = { key, entry, bytes: sizeOf(entry), readBefore: this.readUpTo ?? entry.rv, isEcho };
    this.readUpTo = entry.rv;
    this.waitingSinceMs ??= nowMs;
    if (held) this.#set(heldKey(pending), pending);
    else this.#merge(pending);
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

  /** Nothing waits but echoes. */
  get hasEchoesAlone(): boolean {
    return this.#prompt.size === 0;
  }

  /** The relay is a standby from now on. The queue may or may not have accepted the entries in flight, so they wait again. */
  onStandBy(): void {
    if (this.#isListing && this.readUpTo !== undefined) this.#leaveToList(this.readUpTo);
    else if (this.listNeededAt === undefined) this.knownAccepted = this.acceptedUpTo;
    this.#isListing = false;
    const all = [...this.#unaccepted()].sort((a, b) => (isNewer(a.entry.rv, b.entry.rv) ? 1 : -1));
    this.underWay.clear();
    this.clear();
    for (const pending of all) this.#set(heldKey(pending), pending);
  }

  /** The relay leads from now on: of each object only the newest state waits. */
  onLead(): void {
    const all = [...this.waiting.values()];
    this.clear();
    for (const pending of all) this.#merge(pending);
  }

  /**
   * Drops the entries up to a version that the leader has published as accepted. A version that this relay has not read itself is ignored: if the cluster
   * has been restored, the leader may not have noticed yet.
   */
  dropAccepted(accepted: string): void {
    if (this.readUpTo === undefined || isNewer(accepted, this.readUpTo)) return;
    if (this.knownAccepted === undefined || isNewer(accepted, this.knownAccepted)) this.knownAccepted = accepted;
    for (const [key, { entry }] of this.waiting) if (!isNewer(entry.rv, accepted)) this.#remove(key);
    if (this.listNeededAt !== undefined && !isNewer(this.listNeededAt, accepted)) this.listNeededAt = undefined;
  }

  /** Drops the waiting entries: a list of this version or a newer one has to be sent instead. */
  needList(version: string): void {
    this.clear();
    this.readUpTo = version;
    this.listNeededAt = version;
  }

  /** The version of the kind in the leader's Lease. Absent, the leader may have begun a list that this relay would have to finish. */
  onLeaderAccepted(accepted: string | undefined): void {
    if (accepted !== undefined) this.dropAccepted(accepted);
    else if (this.needsNoList && this.readUpTo !== undefined) this.#leaveToList(this.readUpTo);
  }

  /** Until the list has been sent, no version of the kind is published to the standbys. */
  beginList(): void {
    this.#isListing = true;
  }

  /** A list of that version has been sent. */
  onListSent(version: string): void {
    this.#isListing = false;
    if (this.listNeededAt !== undefined && !isNewer(this.listNeededAt, version)) this.listNeededAt = undefined;
  }

  /** The version to publish to the standbys; undefined when none is known. */
  publishable(leads: boolean): string | undefined {
    if (this.#isListing) return undefined;
    return leads && this.listNeededAt === undefined ? this.acceptedUpTo : this.knownAccepted;
  }

  /** The kind has been read, and no list of it has to be sent. */
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

const heldKey = ({ key, entry }: Pending): string => ('oldSvc' in entry ? `${key} ${entry.rv}` : key);

function fromFormerService(waiting: Entry | undefined, entry: Entry): Entry {
  if (!waiting || !('oldSvc' in waiting) || waiting.oldSvc === undefined || !('svc' in entry)) return entry;
  const { oldSvc: _, ...rest } = entry;
  return waiting.oldSvc === entry.svc ? rest : { ...rest, oldSvc: waiting.oldSvc };
}
