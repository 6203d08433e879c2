import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { optInManagedBy } from '#shared/kube/names.ts';
import type { AnnotatedServices } from '#shared/kube/services.ts';
import type { Kind, Service } from '#shared/kube/types.ts';
import type { KubeObject } from '../source/watch-source.ts';
import { relayKey, serviceOfSlice, sliceManager } from './entries.ts';

/**
 * Counts Services that opt in, and Services with slices that the hub made by opt-in. It holds their names.
 */
export class OptInCounts {
  /** Whether the annotation is valid, by Service without a selector. */
  readonly #annotated = new Map<string, boolean>();
  /** The Service of each slice of the hub. */
  readonly #slices = new Map<string, string>();
  /**
   * Kinds whose list is not complete: without its Services each slice would look as if nobody followed it.
   */
  readonly #incomplete = new Set<Kind>(['Service', 'EndpointSlice']);

  /** Call it with each state of a Service or a slice. */
  note(kind: Kind, object: KubeObject, isDeleted = false): void {
    if (kind === 'Service') this.#noteService(relayKey(object), isDeleted ? undefined : (object as Service));
    if (kind === 'EndpointSlice') this.#noteSlice(relayKey(object), isDeleted ? undefined : object);
  }

  /** Call it before a list of the kind. */
  reset(kind: Kind): void {
    if (kind === 'Service') this.#annotated.clear();
    else if (kind === 'EndpointSlice') this.#slices.clear();
    else return;
    this.#incomplete.add(kind);
  }

  /** Call it after the list. */
  complete(kind: Kind): void {
    this.#incomplete.delete(kind);
  }

  /** Undefined while one of the kinds is listed. */
  get counts(): Required<AnnotatedServices> | undefined {
    if (this.#incomplete.size > 0) return undefined;
    const valid = [...this.#annotated.values()].filter((isValid) => isValid).length;
    const sliced = new Set(this.#slices.values());
    const stray = [...sliced].filter((service) => !this.#annotated.has(service)).length;
    return { valid, invalid: this.#annotated.size - valid, sliced: sliced.size, stray };
  }

  #noteService(key: string, service: Service | undefined): void {
    const by = service && writerOf(service).by;
    if (by === 'opt-in' || by === 'invalid-annotation') this.#annotated.set(key, by === 'opt-in');
    else this.#annotated.delete(key);
  }

  #noteSlice(key: string, slice: KubeObject | undefined): void {
    if (slice && sliceManager(slice) === optInManagedBy)
      this.#slices.set(key, `${slice.metadata.namespace ?? ''}/${serviceOfSlice(slice)}`);
    else this.#slices.delete(key);
  }
}
