import { kindFacts, type RawObject, type StoreKind } from './api-kinds.ts';
import { Refusal } from './failure.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: RawObject;
  readonly previous: RawObject | undefined;
  readonly resourceVersion: number;
}

/** The order of these keys is the API server's order of a list. */
export const keyOf = (kind: StoreKind, namespace: string | undefined, name: string): string =>
  kindFacts[kind].namespaced ? `${namespace}/${name}` : name;

const keyOfObject = ({ kind, metadata }: RawObject): string =>
  keyOf(kind as StoreKind, metadata.namespace, metadata.name);

/** The objects of one kind, and the last changes to them. */
export class Shelf {
  readonly objects = new Map<string, RawObject>();
  readonly listeners = new Set<(event: StoreEvent) => void>();
  /** Rebuilt after a key was added or removed. */
  #sorted: readonly string[] | undefined;
  #events: StoreEvent[] = [];
  /** Everything after this resourceVersion is in `#events`. */
  #floor = 0;

  list(prefix: string, at: number): readonly RawObject[] {
    const past =
      at < (this.#events.at(-1)?.resourceVersion ?? this.#floor) ? new Map(this.objects) : undefined;
    for (const { object, previous } of past ? this.since(at).reverse() : []) {
      if (previous) past?.set(keyOfObject(object), previous);
      else past?.delete(keyOfObject(object));
    }
    this.#sorted ??= [...this.objects.keys()].sort();
    const keys = past ? [...past.keys()].sort() : this.#sorted;
    return keys.flatMap((key) =>
      key.startsWith(prefix) ? ((past ?? this.objects).get(key) as RawObject) : [],
    );
  }

  since(resourceVersion: number): StoreEvent[] {
    if (resourceVersion < this.#floor)
      throw new Refusal(410, 'Expired', `too old resource version: ${resourceVersion} (${this.#floor})`);
    let first = this.#events.length;
    while (first > 0 && (this.#events[first - 1] as StoreEvent).resourceVersion > resourceVersion) first--;
    return this.#events.slice(first);
  }

  put(object: RawObject): void {
    const key = keyOfObject(object);
    if (!this.objects.has(key)) this.#sorted = undefined;
    this.objects.set(key, object);
  }

  record(event: StoreEvent, limit: number): void {
    if (event.type !== 'DELETED') this.put(event.object);
    else if (this.objects.delete(keyOfObject(event.object))) this.#sorted = undefined;
    this.#events.push(event);
    // The history is cut in large pieces, so the cost of a change is independent of its length.
    if (this.#events.length > limit * 1.25)
      this.#floor = this.#events.splice(0, this.#events.length - limit).at(-1)?.resourceVersion ?? 0;
    for (const listener of [...this.listeners]) listener(event);
  }

  compact(resourceVersion: number): void {
    this.#events = [];
    this.#sorted = undefined;
    this.#floor = resourceVersion;
  }
}
