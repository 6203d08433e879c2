/** The objects that a run has seen on the API server. They are saved if the worker still holds the lease. */
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { OutputName, OutputObject, OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';

/**
 * An output as the run found it on the API server before it wrote one of that kind, or deleted by another
 * client.
 */
export interface FoundOutput {
  readonly record: OutputRecord;
  /** Last manager of its content, if the API server reports one. */
  readonly manager: string | undefined;
}

export class ServerState {
  readonly #records = new Map<string, OutputRecord>();
  readonly #found = new Map<string, FoundOutput>();
  readonly #now: () => number;
  readonly #incarnation: number;
  readonly #before: readonly OutputRecord[];
  /** The run has written or read live, so it has outputs to save, which takes the proof of the lease. */
  needsLeaseCheck = false;
  /** Successful writes, by kind. */
  readonly writes = { Endpoints: 0, EndpointSlice: 0 };
  /** Successful deletes, which `writes` counts too. */
  readonly deletes = { Endpoints: 0, EndpointSlice: 0 };
  /** When the API server had accepted the last of them. */
  lastWriteMs: number | undefined;

  /** `before`: what was saved before this run. */
  constructor(incarnation: number, before: readonly OutputRecord[] = [], now: () => number = () => 0) {
    this.#incarnation = incarnation;
    this.#before = before;
    this.#now = now;
  }

  /** A live read has found this object there. After a write it may also be what the run itself has made. */
  recordFound(kind: OutputKind, object: OutputObject, manager?: string): void {
    const { name } = object.metadata;
    const isUntouched =
      this.writes[kind] === 0 ||
      (!this.#records.has(nameOf({ kind, name })) &&
        this.#before.some((o) => o.kind === kind && o.name === name));
    this.recordPresent(kind, object);
    if (isUntouched) this.#noteFound(kind, object, manager);
  }

  /**
   * A live read has not found this object, although it is saved. `asOf`: resourceVersion of the list,
   * undefined for other reads.
   */
  recordMissing(kind: OutputKind, object: OutputObject, asOf?: string): void {
    const isUntouched =
      this.writes[kind] === 0 || !this.#records.has(nameOf({ kind, name: object.metadata.name }));
    this.#setAbsent(kind, object, asOf);
    if (isUntouched) this.#noteFound(kind, object, undefined);
  }

  #noteFound(kind: OutputKind, { metadata: { name } }: OutputObject, manager: string | undefined): void {
    const key = nameOf({ kind, name });
    this.#found.set(key, { record: this.#records.get(key) as OutputRecord, manager });
  }

  get found(): readonly FoundOutput[] {
    return [...this.#found.values()];
  }

  /** The server holds this object. */
  recordPresent(kind: OutputKind, object: OutputObject): void {
    const { name, uid = '', resourceVersion = '0', generation = 0 } = object.metadata;
    this.#set({
      kind,
      name,
      uid,
      version: versionOf(this.#incarnation, resourceVersion),
      generation,
      object: withoutManagedFields(object),
    });
  }

  /**
   * The server no longer has the object. The API server returns no version for a deletion, so it is saved
   * with the object's last version, or the newer one of the list that lacks it. A slice may only have lost
   * its label, and a late worker's save of a version in between must not bring it back.
   */
  #setAbsent(kind: OutputKind, object: OutputObject, asOf?: string): void {
    const { name, uid = '', resourceVersion = '0', generation = 0 } = object.metadata;
    // It may have been of an earlier incarnation, whose revisions may be far above this one's: nothing that
    // comes to that name would be newer.
    const known =
      this.#records.get(nameOf({ kind, name })) ??
      this.#before.find((o) => o.kind === kind && o.name === name);
    const last = known?.uid === uid ? known.version : versionOf(this.#incarnation, resourceVersion);
    const listed = asOf === undefined ? last : versionOf(this.#incarnation, asOf);
    const [, version = last] = [last, listed].sort();
    this.#set({ kind, name, uid, version, generation, object: undefined });
  }

  /**
   * The run has deleted the object. If it was not saved as it was, this also records what it was, so that the
   * history shows its deletion.
   */
  recordDeleted(kind: OutputKind, object: OutputObject): void {
    const { name, resourceVersion = '0' } = object.metadata;
    const isSaved = this.#before.some(
      (o) =>
        o.kind === kind && o.name === name && o.version === versionOf(this.#incarnation, resourceVersion),
    );
    if (!this.#records.has(nameOf({ kind, name })) && !isSaved) {
      this.recordPresent(kind, object);
      this.#noteFound(kind, object, undefined);
    }
    this.#setAbsent(kind, object);
  }

  countWrite(kind: OutputKind, verb: 'write' | 'delete' = 'write'): void {
    this.needsLeaseCheck = true;
    this.writes[kind]++;
    if (verb === 'delete') this.deletes[kind]++;
    this.lastWriteMs = this.#now();
  }

  get records(): readonly OutputRecord[] {
    return [...this.#records.values()];
  }

  /**
   * The records that are not saved already: a run that reads its outputs live mostly finds them as they were.
   */
  get unsaved(): readonly OutputRecord[] {
    const saved = new Set(this.#before.map(idOf));
    return this.records.filter((record) => !saved.has(idOf(record)));
  }

  #set(record: OutputRecord): void {
    this.#records.set(nameOf(record), record);
  }
}

export const nameOf = ({ kind, name }: OutputName): string => `${kind}/${name}`;

const idOf = ({ uid, version, object, ...output }: OutputRecord): string =>
  [nameOf(output), uid, version, object !== undefined].join(' ');

/**
 * They are the server's business, and most of the object's size: a PUT without them leaves them as they are.
 */
function withoutManagedFields(object: OutputObject): Endpoints | EndpointSlice {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata } as Endpoints | EndpointSlice;
}
