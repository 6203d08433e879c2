import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import type { Log } from '#shared/telemetry/port.ts';
import type { Clock } from './clock.ts';
import type { Meter } from './meter.ts';
import type { Outbox } from './outbox.ts';
import { deletedInput, inputEntry, isInput, keyOf, type Outputs, outputEntry, serviceOf } from './project.ts';
import { projectionHash } from './projection-hash.ts';
import type { KubeObject } from './watch-source.ts';

export interface SentIndexDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly outputs: Outputs;
  readonly limits?: Limits;
}

/**
 * What the relay remembers of objects, about 100 bytes each: of pods and nodes a hash of the projection that was last passed on, so that
 * updates which change none of it are dropped; of slices the service they belong to. Never an object itself.
 */
export class SentIndex {
  readonly #deps: SentIndexDeps;
  readonly #hashes = { Pod: new Map<string, number>(), Node: new Map<string, number>() };
  readonly #services = new Map<string, string>();

  constructor(deps: SentIndexDeps) {
    this.#deps = deps;
  }

  /** An event of a watch: passed on to the outbox, or dropped because nothing that is sent has changed. */
  onEvent(kind: Kind, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject, version: string, outbox: Outbox): void {
    const key = keyOf(object);
    const seen = this.#deps.clock.now();
    let entry: Entry | undefined;
    try {
      if (!isInput(kind)) entry = this.outputOf(kind, key, object, version, type === 'DELETED', seen);
      else if (type === 'DELETED') entry = deletedInput(object, version, seen);
      else entry = inputEntry(kind, object, version, seen, limitsOf(this.#deps).relay);
    } catch (e) {
      // One object that we cannot read must not hold up the others: the hub keeps what it has of it.
      this.#unreadable(kind, key, e);
      this.#forgetOne(kind, key);
      outbox.markRead(kind, version);
      return;
    }
    if (kind === 'Pod' || kind === 'Node') {
      const hash = 'o' in entry && entry.o !== undefined ? projectionHash(entry.o) : undefined;
      if (hash === undefined) this.#hashes[kind].delete(key);
      else if (this.#hashes[kind].get(key) === hash) {
        this.#deps.meter.add('relay_unchanged_total', kind);
        outbox.markRead(kind, version);
        return;
      } else this.#hashes[kind].set(key, hash);
    }
    outbox.put(kind, key, entry);
  }

  /** An object of a list. Undefined if it cannot be read. `beside`: the list runs beside a watch, whose memory it must not set. */
  onListed(kind: Kind, object: KubeObject, version: string, beside: boolean): Entry | undefined {
    const key = keyOf(object);
    try {
      if (!isInput(kind)) {
        if (!beside && kind === 'EndpointSlice') this.#services.set(key, serviceOf(object));
        return outputEntry(kind, object, version, this.#deps.outputs, {}, limitsOf(this.#deps).relay);
      }
      const entry = inputEntry(kind, object, version, undefined, limitsOf(this.#deps).relay);
      if (kind === 'Pod' || kind === 'Node') {
        const hash = projectionHash(entry.o ?? '');
        if (!beside) this.#hashes[kind].set(key, hash);
        // One of them is ahead of the other. Should it be the list, then the watch has missed something: let its next event through.
        else if (this.#hashes[kind].get(key) !== hash) this.#hashes[kind].delete(key);
      }
      return entry;
    } catch (e) {
      this.#unreadable(kind, key, e);
      this.#forgetOne(kind, key);
      return undefined;
    }
  }

  /** Before a list that a watch begins at. */
  reset(kind: Kind): void {
    if (kind === 'Pod' || kind === 'Node') this.#hashes[kind].clear();
    if (kind === 'EndpointSlice') this.#services.clear();
  }

  outputOf(kind: 'Endpoints' | 'EndpointSlice', key: string, object: KubeObject, version: string, gone: boolean, seen: number): Entry {
    const more = { seen, ...(gone && { gone: true as const }) };
    if (kind === 'Endpoints') return outputEntry(kind, object, version, this.#deps.outputs, more, limitsOf(this.#deps).relay);
    const service = serviceOf(object);
    const former = this.#services.get(key);
    if (gone) this.#services.delete(key);
    else if (former !== service) this.#services.set(key, service);
    const moved = former !== undefined && former !== service && former !== '';
    return outputEntry(kind, object, version, this.#deps.outputs, { ...more, ...(moved && { oldSvc: former }) }, limitsOf(this.#deps).relay);
  }

  #forgetOne(kind: Kind, key: string): void {
    if (kind === 'Pod' || kind === 'Node') this.#hashes[kind].delete(key);
    this.#services.delete(key);
  }

  #unreadable(kind: Kind, key: string, error: unknown): void {
    this.#deps.meter.add('relay_unsendable_total', kind);
    this.#deps.log.error('object cannot be projected', { kind, key, error });
  }
}
