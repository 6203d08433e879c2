/** Which records of Pods a worker has read since another one wrote an output of the service, or one beside it in the same container, whose read it joins. */
import type { Item } from '#shared/store/table.ts';
import type { Actor } from './actor.ts';

interface Read {
  readonly at: number;
  readonly pk: string;
  /** Undefined: the whole partition. */
  readonly sk: string | undefined;
  readonly items: readonly Item[];
}

export class PodReads {
  /** By container. */
  readonly #reads = new WeakMap<object, Read[]>();
  /** When each worker wrote last, by service. */
  readonly #writes = new Map<string, Map<Actor, number>>();
  /** Counts what happens, in order. */
  #at = 0;

  add(actor: Actor, read: Omit<Read, 'at'>): void {
    const container = actor.container ?? actor;
    const reads = this.#reads.get(container) ?? [];
    reads.push({ ...read, at: ++this.#at });
    this.#reads.set(container, reads);
  }

  written(actor: Actor, service: string): void {
    const writes = this.#writes.get(service) ?? new Map<Actor, number>();
    this.#writes.set(service, writes.set(actor, ++this.#at));
  }

  /** What each of them found, in order; undefined: no record. */
  sinceOthersWrote(actor: Actor, service: string, pod: { readonly pk: string; readonly sk: string }): readonly (Item | undefined)[] {
    const others = [...(this.#writes.get(service) ?? [])].flatMap(([writer, at]) => (writer === actor ? [] : [at]));
    const since = Math.max(0, ...others);
    return (this.#reads.get(actor.container ?? actor) ?? [])
      .filter(({ at, pk, sk }) => at > since && pk === pod.pk && (sk === undefined || sk === pod.sk))
      .map(({ items }) => items.find((i) => i.sk === pod.sk));
  }
}
