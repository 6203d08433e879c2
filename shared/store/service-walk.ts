/** Walks the services of a cluster in the order of their keys. Each step begins where the step before ended. */
import { concurrently } from '#shared/concurrently.ts';
import type { ClusterStore } from './cluster-store.ts';
import { type KnownNamespace, markNamespaceEmpty, nextNamespaces } from './namespaces.ts';
import { type ObjectRecord, readObjects } from './objects.ts';

/** Position of the walk. It has passed all namespaces before this one, and in this one the services up to `service`, or all if `service` is undefined. */
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
  readonly services: readonly ObjectRecord[];
  readonly entries: number;
  /** Undefined if the walk has passed all services. */
  readonly place: WalkPosition | undefined;
}

export const entriesPerPage = 250;
const namespacesAtOnce = 8;

/** Each limit of the step must be at least 1, because the walk would not move otherwise. */
export async function walkServices(store: ClusterStore, from: WalkPosition | undefined, step: PageBudget): Promise<ServicePage> {
  const services: ObjectRecord[] = [];
  let entries = 0;
  let place = from;
  const room = (): number => step.services - services.length;
  /** If the step has room left, it has all services of the namespace. */
  const take = (namespace: string, found: readonly ObjectRecord[]): void => {
    services.push(...found.slice(0, room()));
    place = room() > 0 ? { namespace } : { namespace, service: services.at(-1)?.name };
  };
  if (place?.service !== undefined)
    take(place.namespace, await readObjects(store, 'Service', place.namespace, { from: place.service, atMost: room() }));
  while (room() > 0 && entries < step.entries) {
    const page = await nextNamespaces(store, 'Service', place?.namespace, Math.min(entriesPerPage, step.entries - entries));
    entries += page.read;
    for (let i = 0; i < page.namespaces.length; i += namespacesAtOnce) {
      const group = page.namespaces.slice(i, i + namespacesAtOnce);
      const atMost = room();
      const found = await concurrently(namespacesAtOnce, group, (ns) => servicesIn(store, ns, atMost));
      for (const [j, { name }] of group.entries()) if (room() > 0) take(name, found[j] ?? []);
      if (room() === 0) return { services, entries, place };
    }
    if (page.last === undefined) return { services, entries, place: undefined };
    place = { namespace: page.last };
  }
  return { services, entries, place };
}

async function servicesIn(store: ClusterStore, namespace: KnownNamespace, atMost: number): Promise<readonly ObjectRecord[]> {
  const found = await readObjects(store, 'Service', namespace.name, { atMost });
  if (found.length === 0) await markNamespaceEmpty(store, 'Service', namespace);
  return found;
}
