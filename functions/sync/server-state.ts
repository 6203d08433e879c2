/** What a run has learnt of the API server, saved when the worker still holds the lease. */
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import { isOptInSlice } from '#shared/opt-in/hand-over.ts';
import type { OutputObject, OutputRecord } from '#shared/store/outputs.ts';
import { versionOf } from '#shared/store/version.ts';

export class ServerState {
  readonly #records = new Map<string, OutputRecord>();
  readonly #incarnation: number;
  readonly #before: readonly OutputRecord[];
  /** Something was written or read live: nothing is saved before a look whether the lease is still held. */
  needsLeaseCheck = false;
  /** Successful writes, by kind. */
  readonly writes = { Endpoints: 0, EndpointSlice: 0 };
  /** Of these, slices of Services that opt in. */
  writesOptIn = 0;

  /** `before`: what was saved before this run. */
  constructor(incarnation: number, before: readonly OutputRecord[] = []) {
    this.#incarnation = incarnation;
    this.#before = before;
  }

  /** The server holds this object. */
  recordPresent(kind: OutputKind, object: OutputObject): void {
    const { name, uid = '', resourceVersion = '0', generation = 0 } = object.metadata;
    this.#set({ kind, name, uid, version: versionOf(this.#incarnation, resourceVersion), generation, object: withoutManagedFields(object) });
  }

  /** The server no longer holds it. A deletion's own version is never told, so it is saved at the version that went. */
  recordAbsent(kind: OutputKind, object: OutputObject): void {
    const { name, uid = '', resourceVersion = '0', generation = 0 } = object.metadata;
    // It may have been of an earlier incarnation, whose revisions may be far above this one's: nothing that comes to that name would be newer.
    const known = this.#records.get(`${kind}/${name}`) ?? this.#before.find((o) => o.kind === kind && o.name === name);
    const version = known?.uid === uid ? known.version : versionOf(this.#incarnation, resourceVersion);
    this.#set({ kind, name, uid, version, generation, object: undefined });
  }

  countWrite(kind: OutputKind, slice?: Pick<EndpointSlice, 'metadata'>): void {
    this.needsLeaseCheck = true;
    this.writes[kind]++;
    if (slice && isOptInSlice(slice)) this.writesOptIn++;
  }

  get records(): readonly OutputRecord[] {
    return [...this.#records.values()];
  }

  /** The records that are not saved already: a run that reads its outputs live mostly finds them as they were. */
  get unsaved(): readonly OutputRecord[] {
    return this.records.filter(
      (record) =>
        !this.#before.some(
          ({ kind, name, uid, version, object }) =>
            kind === record.kind &&
            name === record.name &&
            uid === record.uid &&
            version === record.version &&
            (object === undefined) === (record.object === undefined),
        ),
    );
  }

  /** The outputs read before the run as they are after it, in the table's order. */
  mergeInto(before: readonly OutputRecord[]): readonly OutputRecord[] {
    const isOld = (o: OutputRecord): boolean => !this.#records.has(`${o.kind}/${o.name}`);
    return [...before.filter(isOld), ...this.records].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #set(record: OutputRecord): void {
    this.#records.set(`${record.kind}/${record.name}`, record);
  }
}

/** They are the server's business, and most of the object's size: a PUT without them leaves them as they are. */
function withoutManagedFields(object: OutputObject): Endpoints | EndpointSlice {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata } as Endpoints | EndpointSlice;
}
