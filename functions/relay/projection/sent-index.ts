import type { AnnotatedServices } from '#shared/kube/services.ts';
import {
  type EndpointSlice,
  type InputKind,
  isInput,
  type Kind,
  type OutputKind,
} from '#shared/kube/types.ts';
import type { Entry, InputEntry, OutputEntry } from '#shared/queue/messages.ts';
import { EndpointDelays } from '../delay/endpoint-delays.ts';
import { changeOfPod } from '../delay/pod-state.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { KubeObject, ObjectEvent } from '../source/watch-source.ts';
import { deletedInput, inputEntry, type Outputs, outputEntry, relayKey, serviceOfSlice } from './entries.ts';
import { NotReadyChanges } from './not-ready-changes.ts';
import { OptInCounts } from './opt-in-counts.ts';
import { isOwnImportWrite } from './own-write.ts';
import { isHashed, type SentChange, SentHashes } from './sent-hashes.ts';

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
  readonly #sent = new SentHashes();
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
    this.#optIn.note(kind, object, type === 'DELETED');
    const entry = this.#ifReadable(kind, key, () => this.#entryOf(kind, { type, object }, version));
    if (!entry || isOwnImportWrite(entry)) return undefined;
    if (!isHashed(kind)) return entry;
    const sent = this.#sent.record(kind, object, projectionIn(entry));
    if (!sent) {
      this.#deps.meter.add('relay_unchanged_total', kind);
      if (kind === 'Pod') this.#notReady.seen(key, withoutTime(entry as InputEntry));
      return undefined;
    }
    if (kind === 'Pod') this.#podSent(object, entry as InputEntry, sent);
    return entry;
  }

  #podSent(pod: KubeObject, entry: InputEntry, { before, after }: SentChange): void {
    this.#notReady.sent(relayKey(pod), entry);
    const change = changeOfPod(before, after);
    if (change) this.delays.podChanged(pod.metadata.uid ?? '', change);
  }

  #entryOf(kind: Kind, event: ObjectEvent, version: string): Entry {
    const { clock, outputs, limits } = this.#deps;
    const { type, object } = event;
    const observedAtMs = clock.now();
    if (!isInput(kind)) {
      const more = { ...this.#lateness(kind, event), ...this.#more(kind, event, observedAtMs) };
      return outputEntry(kind, object, version, { outputs, more, limits: limits.relay });
    }
    return type === 'DELETED'
      ? deletedInput(object, version, observedAtMs)
      : inputEntry(kind, object, version, observedAtMs);
  }

  /** How late a slice that is sent whole shows the change of a pod. */
  #lateness(kind: OutputKind, { type, object }: ObjectEvent): Pick<OutputEntry, 'lateMs'> {
    if (kind !== 'EndpointSlice') return {};
    const key = relayKey(object);
    const lateMs = this.delays.sliceChanged(key, object as EndpointSlice, type === 'DELETED');
    return lateMs !== undefined && this.#deps.outputs === 'full' ? { lateMs } : {};
  }

  /**
   * The entry of an object of a list; undefined if it cannot be projected. `beside`: the list runs beside a
   * watch, whose index it must not overwrite.
   */
  onListed(kind: Kind, object: KubeObject, version: string, beside: boolean): Entry | undefined {
    const key = relayKey(object);
    if (!beside) this.#optIn.note(kind, object);
    return this.#ifReadable(kind, key, () =>
      isInput(kind)
        ? this.#listedInput(kind, object, version, beside)
        : this.#listedOutput(kind, object, version, beside),
    );
  }

  #listedInput(kind: InputKind, object: KubeObject, version: string, beside: boolean): Entry {
    const entry = inputEntry(kind, object, version);
    const { projection = '' } = entry;
    if (isHashed(kind) && beside) this.#sent.compare(kind, object, projection);
    else if (isHashed(kind)) this.#sent.record(kind, object, projection);
    if (kind === 'Pod') this.#notReady.sent(relayKey(object), entry);
    return entry;
  }

  #listedOutput(kind: OutputKind, object: KubeObject, version: string, beside: boolean): Entry {
    const { outputs, limits } = this.#deps;
    if (!beside && kind === 'EndpointSlice') {
      this.#services.set(relayKey(object), serviceOfSlice(object));
      this.delays.sliceListed(relayKey(object), object as EndpointSlice);
    }
    return outputEntry(kind, object, version, { outputs, limits: limits.relay });
  }

  /** Call it before a list from whose version a watch begins. */
  reset(kind: Kind): void {
    if (isHashed(kind)) this.#sent.reset(kind);
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
  #more(kind: OutputKind, { type, object }: ObjectEvent, observedAtMs: number): Partial<OutputEntry> {
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

  /** An object that cannot be read must not delay the others. The hub keeps its former state. */
  #ifReadable(kind: Kind, key: string, entryOf: () => Entry): Entry | undefined {
    try {
      return entryOf();
    } catch (error) {
      this.#deps.meter.add('relay_unsendable_total', kind);
      this.#deps.log.error('object cannot be projected', { kind, key, error });
      if (isHashed(kind)) this.#sent.forget(kind, key);
      if (kind === 'Pod') this.#notReady.forget(key);
      this.#services.delete(key);
      return undefined;
    }
  }
}

const projectionIn = (entry: Entry): string | undefined =>
  'projection' in entry ? entry.projection : undefined;

/** It waits on purpose, which is no latency. */
const withoutTime = ({ observedAtMs: _, ...entry }: InputEntry): InputEntry => entry;
