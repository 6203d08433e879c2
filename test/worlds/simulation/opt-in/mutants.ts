/**
 * Deliberate bugs of the hand-over between writers, and of what a shadow cluster may not believe while
 * Services opt in there.
 */
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { objectKey } from '#shared/store/keys.ts';
import type { Item } from '#shared/store/table.ts';
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { cluster, lyingRelay, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import { crashing, type Mutant } from '#test/worlds/simulation/mutants/mutant.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { beside } from './draw.ts';

const isSync = ({ name }: Actor): boolean => name.startsWith('sync-');
const managerOf = (object: object): string | undefined =>
  (object as EndpointSlice).metadata.labels?.[labelSliceManagedBy];
const isOurs = (slice: object): boolean => managerOf(slice) === optInManagedBy;
const isTheirs = (slice: object): boolean => managerOf(slice) === slicesManagedBy;
type List = { readonly items: readonly EndpointSlice[] };

const handOver: Partial<Profile> = { ...crashing, ...beside, crashes: 0, services: 2, pods: 6, changes: 8 };
const lying: Partial<Profile> = {
  ...crashing,
  ...lyingRelay(ordinaryLimits, 'empty'),
  ...beside,
  crashes: 0,
  optInChanges: 0,
};

export const optInMutants: readonly Mutant[] = [
  {
    name: 'leftovers of the built-in controllers are deleted before our slices exist',
    mechanism: 'hand-over',
    seeds: [5, 15],
    profile: handOver,
    api: (api, actor) => ({
      ...api,
      create: async (kind, object) => {
        if (kind === 'EndpointSlice' && isSync(actor))
          await deleteTheirs(api, object as unknown as EndpointSlice);
        return api.create(kind, object);
      },
    }),
  },
  {
    name: 'our slices are deleted as soon as the Service has a selector',
    mechanism: 'hand-over',
    seeds: [4],
    profile: handOver,
    api: (api, actor) => ({
      ...api,
      list: async (kind: Parameters<ClusterApi['list']>[0], ...more: never[]) => {
        const list = await (api.list as (...args: unknown[]) => Promise<List>)(kind, ...more);
        if (kind !== 'EndpointSlice' || !isSync(actor)) return list as never;
        return { ...list, items: [...list.items, ...list.items.filter(isOurs).map(asTheirs)] } as never;
      },
    }),
  },
  {
    name: 'a hand-over relies on the snapshot alone',
    mechanism: 'hand-over',
    seeds: [3, 4, 2],
    profile: { ...handOver, watchDelayMs: 5_000, delayMs: 30_000, optInChanges: 40 },
    api: (api, actor) => ({
      ...api,
      get: async (kind: Parameters<ClusterApi['get']>[0], namespace: string, name: string) => {
        const live = await api.get(kind, namespace, name);
        return ((kind === 'Service' && isSync(actor) && live
          ? lastRead(actor, namespace, name)
          : undefined) ?? live) as never;
      },
    }),
  },
  {
    name: 'leftovers of the built-in controllers stay',
    mechanism: 'hand-over',
    seeds: [7, 4],
    profile: handOver,
    api: (api, actor, { store }) => ({
      ...api,
      delete: async (kind, namespace, name, preconditions) => {
        const object = store.find(kind, namespace, name);
        const isLeft = isSync(actor) && (kind === 'Endpoints' || (object !== undefined && isTheirs(object)));
        return isLeft || api.delete(kind, namespace, name, preconditions);
      },
    }),
  },
  {
    name: 'our slices stay after the opt-in has ended',
    mechanism: 'hand-over',
    seeds: [4, 2, 1],
    profile: handOver,
    api: (api, actor, { store }) => ({
      ...api,
      delete: async (kind, namespace, name, preconditions) => {
        const object = store.find(kind, namespace, name);
        return (
          (isSync(actor) && object !== undefined && isOurs(object)) ||
          api.delete(kind, namespace, name, preconditions)
        );
      },
    }),
  },
  {
    name: 'a shadow cluster with opt-in applies a list that removes much at once',
    mechanism: 'own lists of sweep',
    seeds: [5],
    profile: lying,
    table: (table, actor) => ({
      ...table,
      get: async (key) => asShadowAlone(await table.get(key), actor, 'ingest'),
    }),
  },
  {
    name: 'sweep sends no own list for a shadow cluster with opt-in',
    mechanism: 'own lists of sweep',
    seeds: [2, 7],
    profile: lying,
    table: (table, actor) => ({
      ...table,
      get: async (key) => asShadowAlone(await table.get(key), actor, 'sweep'),
    }),
  },
];

async function deleteTheirs(api: ClusterApi, { metadata }: EndpointSlice): Promise<void> {
  const { namespace = '', labels = {} } = metadata;
  const { items } = await api.list('EndpointSlice', namespace, {
    labels: { [labelServiceName]: labels[labelServiceName] ?? '' },
  });
  for (const slice of items.filter(isTheirs)) {
    const { name, uid = '', resourceVersion = '' } = slice.metadata;
    await api.delete('EndpointSlice', namespace, name, { uid, resourceVersion });
  }
}

const asTheirs = (slice: EndpointSlice): EndpointSlice => ({
  ...slice,
  metadata: {
    ...slice.metadata,
    name: `${slice.metadata.name}-theirs`,
    labels: { ...slice.metadata.labels, [labelSliceManagedBy]: slicesManagedBy },
  },
});

/** The service as the worker has it from the snapshot. */
function lastRead(actor: Actor, namespace: string, name: string): Service | undefined {
  const { pk, sk } = objectKey(cluster, 'Service', namespace, name);
  const item = actor.known.get(`${pk}|${sk}`)?.at(-1)?.[0];
  return typeof item?.['o'] === 'string'
    ? decodeProjection('Service', namespace, name, item['o'])
    : undefined;
}

/** The cluster's record as a function sees it that asks for the mode alone. */
const asShadowAlone = (item: Item | undefined, actor: Actor, role: string): Item | undefined =>
  item?.sk === 'META' && actor.name.startsWith(`${role}-`) ? without(item, 'optIn') : item;

const without = (item: Item, attribute: string): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name !== attribute)) as Item;
