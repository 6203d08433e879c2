/** The services of a cluster in the order of their keys, a few at a time: who passes all of them goes on where the last step ended. */
import { concurrently } from '#shared/concurrently.ts';
import { type KnownNamespace, markNamespaceEmpty, nextNamespaces } from './namespaces.ts';
import { type ObjectRecord, readObjects } from './objects.ts';
import type { Table } from './table.ts';

/** Every namespace before this one is passed, and of this one the services up to `service`; without `service` all of it. */
export interface Place {
  readonly namespace: string;
  readonly service?: string;
}

export interface Step {
  readonly services: number;
  /** Entries of the index of namespaces, those that hold no service included. */
  readonly entries: number;
}

export interface Walked {
  /** Deleted ones are among them as long as the snapshot knows them. */
  readonly services: readonly ObjectRecord[];
  readonly entries: number;
  /** Undefined: all are passed. */
  readonly place: Place | undefined;
}

export const entriesPerPage = 250;
const namespacesAtOnce = 8;

/** Each limit of the step is at least 1, or it would get nowhere. */
export async function walkServices(table: Table, cluster: string, from: Place | undefined, step: Step, now: number): Promise<Walked> {
  const services: ObjectRecord[] = [];
  let entries = 0;
  let place = from;
  const room = (): number => step.services - services.length;
  /** False: the namespace may hold more than there was room for. */
  const take = (namespace: string, found: readonly ObjectRecord[], asked: number): boolean => {
    const taken = found.slice(0, room());
    services.push(...taken);
    const last = taken.at(-1)?.name;
    const whole = taken.length === found.length && found.length < asked;
    if (whole) place = { namespace };
    else if (last !== undefined) place = { namespace, service: last };
    return whole;
  };
  if (place?.service !== undefined) {
    const asked = room();
    const rest = await readObjects({ table, cluster }, 'Service', place.namespace, { from: place.service, atMost: asked });
    if (!take(place.namespace, rest, asked)) return { services, entries, place };
  }
  while (room() > 0 && entries < step.entries) {
    const page = await nextNamespaces({ table, cluster }, 'Service', place?.namespace, Math.min(entriesPerPage, step.entries - entries));
    entries += page.read;
    for (let i = 0; i < page.namespaces.length; ) {
      const asked = room();
      const group = page.namespaces.slice(i, i + Math.min(namespacesAtOnce, asked));
      const found = await concurrently(namespacesAtOnce, group, (ns) => servicesIn(table, cluster, ns, asked, now));
      for (const [j, ns] of group.entries()) if (!take(ns.name, found[j] ?? [], asked) || room() === 0) return { services, entries, place };
      i += group.length;
    }
    if (page.last === undefined) return { services, entries, place: undefined };
    place = { namespace: page.last };
  }
  return { services, entries, place };
}

async function servicesIn(table: Table, cluster: string, namespace: KnownNamespace, atMost: number, now: number): Promise<readonly ObjectRecord[]> {
  const found = await readObjects({ table, cluster }, 'Service', namespace.name, { atMost });
  if (found.length === 0) await markNamespaceEmpty({ table, cluster }, 'Service', namespace, { now });
  return found;
}
