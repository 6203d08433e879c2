/**
 * Which records of Pods a worker has read since another one wrote an output of the service. Whole namespaces
 * are read for all workers of a container.
 */
import type { Item } from '#shared/store/table.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';

interface Read {
  readonly at: number;
  readonly pk: string;
  /** Undefined: the whole partition. */
  readonly sk: string | undefined;
  readonly items: readonly Item[];
}

export class PodReads {
  /** By worker, and those of whole namespaces by container. */
  readonly #reads = new WeakMap<object, Read[]>();
  /** When each worker wrote last, by service. */
  readonly #writes = new Map<string, Map<Actor, number>>();
  /** Counts what happens, in order. */
  #at = 0;

  add(actor: Actor, read: Omit<Read, 'at'>): void {
    const of = (read.sk === undefined && actor.container) || actor;
    const reads = this.#reads.get(of) ?? [];
    reads.push({ ...read, at: ++this.#at });
    this.#reads.set(of, reads);
  }

  written(actor: Actor, service: string): void {
    const writes = this.#writes.get(service) ?? new Map<Actor, number>();
    this.#writes.set(service, writes.set(actor, ++this.#at));
  }

  /** Returns the results of the reads in order, with undefined for an absent record. */
  sinceOthersWrote(
    actor: Actor,
    service: string,
    pod: { readonly pk: string; readonly sk: string },
  ): readonly (Item | undefined)[] {
    const others = [...(this.#writes.get(service) ?? [])].flatMap(([writer, at]) =>
      writer === actor ? [] : [at],
    );
    const since = Math.max(0, ...others);
    return [actor, ...(actor.container ? [actor.container] : [])]
      .flatMap((of) => this.#reads.get(of) ?? [])
      .filter(({ at, pk, sk }) => at > since && pk === pod.pk && (sk === undefined || sk === pod.sk))
      .map(({ items }) => items.find((i) => i.sk === pod.sk));
  }
}
