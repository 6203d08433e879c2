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
  const services: ServiceName[] = [];
  let entries = 0;
  let place = from;
  const room = (): number => step.services - services.length;
  /** If the step has room left, it has all services of the namespace. */
  const take = (namespace: string, found: readonly ServiceName[]): void => {
    services.push(...found.slice(0, room()));
    place = room() > 0 ? { namespace } : { namespace, service: services.at(-1)?.name };
  };
  const takeRest = async (namespace: string, after: string): Promise<void> =>
    take(namespace, await readServiceNames(store, namespace, { from: after, atMost: room() }));
  if (place?.service !== undefined) await takeRest(place.namespace, place.service);
  while (room() > 0 && entries < step.entries) {
    const page = await nextNamespaces(
      store,
      'Service',
      place?.namespace,
      Math.min(entriesPerPage, step.entries - entries),
    );
    entries += page.read;
    for (let i = 0; i < page.namespaces.length; i += namespacesAtOnce) {
      const group = page.namespaces.slice(i, i + namespacesAtOnce);
      // Namespaces have few services as a rule. Of a larger one the rest is read in its turn, if the step has
      // room left for it.
      const atMost = Math.ceil(room() / namespacesAtOnce);
      const found = await concurrently(namespacesAtOnce, group, (ns) => servicesIn(store, ns, atMost));
      for (const [j, { name }] of group.entries()) {
        const first = found[j] ?? [];
        if (room() > 0) take(name, first);
        if (room() > 0 && first.length === atMost) await takeRest(name, first.at(-1)?.name as string);
      }
      if (room() === 0) return { services, entries, place };
    }
    if (page.last === undefined) return { services, entries, place: undefined };
    place = { namespace: page.last };
  }
  return { services, entries, place };
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
