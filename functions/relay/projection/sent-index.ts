import type { AnnotatedServices } from '#shared/kube/services.ts';
import { type EndpointSlice, isInput, type Kind, type OutputKind, type Pod } from '#shared/kube/types.ts';
import type { Entry, InputEntry, OutputEntry } from '#shared/queue/messages.ts';
import { EndpointDelays } from '../delay/endpoint-delays.ts';
import { changeOfPod, goneState, type PodState, podState, unknownState } from '../delay/pod-state.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { KubeObject, ObjectEvent } from '../source/watch-source.ts';
import { deletedInput, inputEntry, type Outputs, outputEntry, relayKey, serviceOfSlice } from './entries.ts';
import { NotReadyChanges } from './not-ready-changes.ts';
import { OptInCounts } from './opt-in-counts.ts';
import { isOwnImportWrite } from './own-write.ts';
import { projectionHash } from './projection-hash.ts';

export interface SentIndexDeps extends Runtime {
  readonly outputs: Outputs;
  /** Sends an entry of a Pod that only answers read, with later ones. */
  readonly putForAnswers?: (key: string, entry: InputEntry) => void;
}

/**
 * The relay's index of the states that it has sent, about 100 bytes an object: of pods and nodes a hash of
 * the last projection, so that updates which change none of it are dropped; of slices the service that they
 * belong to, and the states of their pods; and the names that the counts of opt-in need. It never holds an
 * object.
 */
export class SentIndex {
  readonly #deps: SentIndexDeps;
  readonly #hashes = { Pod: new Map<string, number>(), Node: new Map<string, number>() };
  readonly delays: EndpointDelays;
  readonly #notReady: NotReadyChanges;
  readonly #services = new Map<string, string>();
  readonly #optIn = new OptInCounts();

  constructor(deps: SentIndexDeps) {
    this.#deps = deps;
    this.delays = new EndpointDelays(deps);
    this.#notReady = new NotReadyChanges(deps, deps.putForAnswers ?? (() => {}));
  }

  /**
   * The entry to send for an event of a watch; undefined when nothing that is sent has changed, or the object
   * cannot be projected.
   */
  onEvent(kind: Kind, { type, object }: ObjectEvent, version: string): Entry | undefined {
    const key = relayKey(object);
    const observedAtMs = this.#deps.clock.now();
    this.#optIn.note(kind, object, type === 'DELETED');
    if (kind === 'EndpointSlice') this.delays.sliceChanged(key, object as EndpointSlice, type === 'DELETED');
    const limits = this.#deps.limits.relay;
    let entry: Entry;
    try {
      if (!isInput(kind))
        entry = outputEntry(kind, object, version, {
          outputs: this.#deps.outputs,
          more: this.#more(kind, type, object, observedAtMs),
          limits,
        });
      else if (type === 'DELETED') entry = deletedInput(object, version, observedAtMs);
      else entry = inputEntry(kind, object, version, observedAtMs);
    } catch (e) {
      // An object that cannot be read must not delay the others. The hub keeps its former state.
      this.#unreadable(kind, key, e);
      this.#forgetOne(kind, key);
      return undefined;
    }
    if (isOwnImportWrite(entry)) return undefined;
    if (kind !== 'Pod' && kind !== 'Node') return entry;
    const sent = this.#hashes[kind].get(key);
    const hash =
      'projection' in entry && entry.projection !== undefined
        ? hashWithState(entry.projection, kind === 'Pod' ? podState(object as Pod) : unknownState)
        : undefined;
    if (hash !== undefined && hash === sent) {
      this.#deps.meter.add('relay_unchanged_total', kind);
      if (kind === 'Pod') this.#notReady.seen(key, withoutTime(entry as InputEntry));
      return undefined;
    }
    if (kind === 'Pod') this.#notReady.sent(key, entry as InputEntry);
    if (hash === undefined) this.#hashes[kind].delete(key);
    else this.#hashes[kind].set(key, hash);
    const change =
      kind === 'Pod' ? changeOfPod(stateIn(sent), hash === undefined ? goneState : stateIn(hash)) : undefined;
    if (change) this.delays.podChanged(object.metadata.uid ?? '', change);
    return entry;
  }

  /**
   * The entry of an object of a list; undefined if it cannot be projected. `beside`: the list runs beside a
   * watch, whose index it must not overwrite.
   */
  onListed(kind: Kind, object: KubeObject, version: string, beside: boolean): Entry | undefined {
    const key = relayKey(object);
    if (!beside) this.#optIn.note(kind, object);
    try {
      if (!isInput(kind)) {
        if (!beside && kind === 'EndpointSlice') {
          this.#services.set(key, serviceOfSlice(object));
          this.delays.sliceListed(key, object as EndpointSlice);
        }
        return outputEntry(kind, object, version, {
          outputs: this.#deps.outputs,
          limits: this.#deps.limits.relay,
        });
      }
      const entry = inputEntry(kind, object, version);
      if (kind === 'Pod' || kind === 'Node') {
        const state = kind === 'Pod' ? podState(object as Pod) : unknownState;
        const hash = hashWithState(entry.projection ?? '', state);
        if (!beside) this.#hashes[kind].set(key, hash);
        // List and watch differ, and either may be ahead. If it is the list, then the watch has missed an
        // event: its next one must not be dropped.
        else if (this.#hashes[kind].get(key) !== hash) this.#hashes[kind].delete(key);
        if (kind === 'Pod') this.#notReady.sent(key, entry);
      }
      return entry;
    } catch (e) {
      this.#unreadable(kind, key, e);
      this.#forgetOne(kind, key);
      return undefined;
    }
  }

  /** Call it before a list from whose version a watch begins. */
  reset(kind: Kind): void {
    if (kind === 'Pod' || kind === 'Node') this.#hashes[kind].clear();
    if (kind === 'Pod') this.#notReady.clear();
    if (kind === 'EndpointSlice') this.#services.clear();
    this.delays.reset(kind);
    this.#optIn.reset(kind);
  }

  /** Call it after such a list. */
  complete(kind: Kind): void {
    this.#optIn.complete(kind);
  }

  /** Call it when the session ends. */
  close(): void {
    this.#notReady.clear();
  }

  /** Undefined until Services and slices are listed. */
  get annotated(): Required<AnnotatedServices> | undefined {
    return this.#optIn.counts;
  }

  /** Fields of an output's entry besides the object; for a slice also its former service. */
  #more(
    kind: OutputKind,
    type: ObjectEvent['type'],
    object: KubeObject,
    observedAtMs: number,
  ): Partial<OutputEntry> {
    const more = { observedAtMs, ...(type === 'DELETED' && { deleted: true as const }) };
    if (kind === 'Endpoints') return more;
    const key = relayKey(object);
    const service = serviceOfSlice(object);
    const former = this.#services.get(key);
    if (type === 'DELETED') this.#services.delete(key);
    else if (former !== service) this.#services.set(key, service);
    const moved = former !== undefined && former !== service && former !== '';
    return moved ? { ...more, formerService: former } : more;
  }

  #forgetOne(kind: Kind, key: string): void {
    if (kind === 'Pod' || kind === 'Node') this.#hashes[kind].delete(key);
    if (kind === 'Pod') this.#notReady.forget(key);
    this.#services.delete(key);
  }

  #unreadable(kind: Kind, key: string, error: unknown): void {
    this.#deps.meter.add('relay_unsendable_total', kind);
    this.#deps.log.error('object cannot be projected', { kind, key, error });
  }
}

/** It waits on purpose, which is no latency. */
const withoutTime = ({ observedAtMs: _, ...entry }: InputEntry): InputEntry => entry;

/** A pod's hash has its state in the last two bits, which needs no memory. */
const hashWithState = (projection: string, state: PodState): number => projectionHash(projection) * 4 + state;
const stateIn = (hash: number | undefined): PodState =>
  hash === undefined ? unknownState : ((hash % 4) as PodState);
