/**
 * Walks the names of a cluster's services in the order of their keys. Each step begins where the step before
 * ended.
 */
import { concurrently } from '#shared/concurrently.ts';
import type { ClusterStore } from '../cluster-store.ts';
import { type KnownNamespace, markNamespaceEmpty, nextNamespaces } from './namespaces.ts';
import { readServiceNames, type ServiceName } from './objects.ts';

/**
 * Position of the walk. It has passed all namespaces before this one, and in this one the services up to
 * `service`, or all if `service` is undefined.
 */
export interface WalkPosition {
  readonly namespace: string;
  readonly service?: string;
}

export interface PageBudget {
  readonly services: number;
  /** Items of the index of namespaces, also of namespaces without services. */
  readonly entries: number;
}

export interface ServicePage {
  /** Services of the step, with tombstones. */
  readonly services: readonly ServiceName[];
  readonly entries: number;
  /** Undefined if the walk has passed all services. */
  readonly place: WalkPosition | undefined;
}

export const entriesPerPage = 250;
const namespacesAtOnce = 8;

/** Each limit of the step must be at least 1, because the walk would not move otherwise. */
export async function walkServices(
  store: ClusterStore,
  from: WalkPosition | undefined,
  step: PageBudget,
): Promise<ServicePage> {
  const taken = new TakenServices(store, from, step.services);
  let entries = 0;
  if (from?.service !== undefined) await taken.takeRest(from.namespace, from.service);
  while (taken.room > 0 && entries < step.entries) {
    const atMost = Math.min(entriesPerPage, step.entries - entries);
    const page = await nextNamespaces(store, 'Service', taken.place?.namespace, atMost);
    entries += page.read;
    await taken.takeAll(page.namespaces);
    if (taken.room > 0) taken.place = page.last === undefined ? undefined : { namespace: page.last };
    if (!taken.place) break;
  }
  return { services: taken.services, entries, place: taken.place };
}

/** Collects the services of a step of the walk, until the step is full. */
class TakenServices {
  readonly services: ServiceName[] = [];
  place: WalkPosition | undefined;
  readonly #store: ClusterStore;
  readonly #atMost: number;

  constructor(store: ClusterStore, place: WalkPosition | undefined, atMost: number) {
    this.#store = store;
    this.place = place;
    this.#atMost = atMost;
  }

  get room(): number {
    return this.#atMost - this.services.length;
  }

  async takeAll(namespaces: readonly KnownNamespace[]): Promise<void> {
    for (let i = 0; i < namespaces.length && this.room > 0; i += namespacesAtOnce)
      await this.#takeGroup(namespaces.slice(i, i + namespacesAtOnce));
  }

  async takeRest(namespace: string, after: string): Promise<void> {
    this.#take(namespace, await readServiceNames(this.#store, namespace, { from: after, atMost: this.room }));
  }

  /**
   * Namespaces have few services as a rule. Of a larger one the rest is read in its turn, if the step has room
   * left for it.
   */
  async #takeGroup(group: readonly KnownNamespace[]): Promise<void> {
    const atMost = Math.ceil(this.room / namespacesAtOnce);
    const found = await concurrently(namespacesAtOnce, group, (ns) => servicesIn(this.#store, ns, atMost));
    for (const [j, { name }] of group.entries()) {
      const first = found[j] ?? [];
      if (this.room > 0) this.#take(name, first);
      if (this.room > 0 && first.length === atMost) await this.takeRest(name, first.at(-1)?.name as string);
    }
  }

  /** If the step has room left, it has all services of the namespace. */
  #take(namespace: string, found: readonly ServiceName[]): void {
    this.services.push(...found.slice(0, this.room));
    this.place = this.room > 0 ? { namespace } : { namespace, service: this.services.at(-1)?.name };
  }
}

async function servicesIn(
  store: ClusterStore,
  namespace: KnownNamespace,
  atMost: number,
): Promise<readonly ServiceName[]> {
  const found = await readServiceNames(store, namespace.name, { atMost });
  if (found.length === 0) await markNamespaceEmpty(store, 'Service', namespace);
  return found;
}
