/** Deliberate bugs of what happens while traffic is away from a zone. */
import { readCluster } from '#shared/clusters/record.ts';
import type { ZoneAway } from '#shared/clusters/zones-away.ts';
import { labelZoneId } from '#shared/kube/names.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Item } from '#shared/store/table.ts';
import { beside } from '#test/worlds/simulation/opt-in/draw.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';
import { crashing, type Mutant } from './mutant.ts';

const is = (role: string, { name }: Actor): boolean => name.startsWith(`${role}-`);
const switched = { ...crashing, crashes: 0, zoneSwitches: 3 };
const shifted = { ...crashing, ...beside, crashes: 0, zonalShift: 'keepsLast' } as const;

export const zoneMutants: readonly Mutant[] = [
  {
    name: 'nobody wakes the services when a zone comes back',
    mechanism: 'zones away',
    profile: switched,
    table: (table, actor) => ({
      ...table,
      update: async (key, change, condition) =>
        is('sweep', actor) && change.set?.['awayWoken'] !== undefined
          ? undefined
          : table.update(key, change, condition),
    }),
  },
  {
    name: 'a zone leaves a Service that has nothing ready elsewhere',
    mechanism: 'zones away',
    profile: switched,
    api: (api, actor, world) => ({
      ...api,
      create: async (kind, object) =>
        api.create(kind, is('sync', actor) ? await withoutZones(world, object) : object),
      replace: async (kind, object) =>
        api.replace(kind, is('sync', actor) ? await withoutZones(world, object) : object),
    }),
  },
  {
    name: 'shadow mode compares the zone of a shift as soon as the shift has ended',
    mechanism: 'zones away',
    seeds: [147, 116, 104],
    profile: shifted,
    table: (table, actor, { scheduler }) => ({
      ...table,
      get: async (key) => {
        const item = await table.get(key);
        return item && is('sync', actor) ? withoutEnded(item, scheduler.now) : item;
      },
    }),
  },
  {
    name: 'ingest drops the id of a Node’s zone',
    mechanism: 'zones away',
    profile: shifted,
    table: (table, actor) => ({
      ...table,
      put: (item, condition) => table.put(is('ingest', actor) ? withoutZoneId(item) : item, condition),
    }),
  },
];

/** Each Node is a zone. */
async function withoutZones<T extends object>(
  { table, cluster, scheduler }: WorldState,
  object: T,
): Promise<T> {
  const { byOperators = [] } = (await readCluster(table, cluster))?.zones ?? {};
  const away = new Set(byOperators.flatMap((e) => (e.untilMs > scheduler.now ? [e.zone] : [])));
  const stays = ({ nodeName }: { readonly nodeName?: string | null }): boolean => !away.has(nodeName ?? '');
  const { endpoints, subsets } = object as Partial<EndpointSlice & Endpoints>;
  return {
    ...object,
    ...(endpoints && { endpoints: endpoints.filter(stays) }),
    ...(subsets && {
      subsets: subsets.map((subset) => ({ ...subset, addresses: (subset.addresses ?? []).filter(stays) })),
    }),
  };
}

function withoutEnded(item: Item, nowMs: number): Item {
  const text = item['awayArc'];
  if (typeof text !== 'string') return item;
  const shifts = JSON.parse(text) as readonly ZoneAway[];
  return { ...item, awayArc: JSON.stringify(shifts.filter(({ untilMs }) => untilMs > nowMs)) };
}

function withoutZoneId(item: Item): Item {
  if (!item.pk.endsWith('#NODE') || typeof item['o'] !== 'string') return item;
  const { metadata, ...node } = decodeProjection('Node', '', item.sk, item['o']);
  const { [labelZoneId]: _, ...labels } = metadata.labels ?? {};
  return { ...item, o: encodeProjection('Node', { ...node, metadata: { ...metadata, labels } }) };
}
