/** A cluster's outputs in the form in which vectors expect them. */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import type { EndpointsView, EventView, SliceGroupView } from './vector.ts';

const triggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';

export const endpointsView = (store: Store): EndpointsView[] =>
  (store.list('Endpoints') as readonly RawObject[]).map(({ metadata, ...rest }) => ({
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    subsets: ((rest as { subsets?: readonly object[] }).subsets ?? []) as readonly object[],
  }));

interface Slice extends RawObject {
  readonly addressType: string;
  readonly ports?: readonly object[] | null;
  readonly endpoints?:
    | readonly { readonly hints?: { readonly forZones?: readonly { readonly name: string }[] } }[]
    | null;
}

/**
 * Which endpoint lands in which slice is not determined, so slices that are alike but for their endpoints are
 * one group.
 */
export function sliceGroups(
  store: { list(kind: 'EndpointSlice'): readonly object[] },
  hintsByCount: boolean,
): SliceGroupView[] {
  const groups = new Map<string, { view: SliceGroupView; slices: Slice[] }>();
  for (const slice of store.list('EndpointSlice') as unknown as readonly Slice[]) {
    const { metadata, addressType, ports } = slice;
    const { [triggerTime]: _, ...annotations } = metadata.annotations ?? {};
    const identity = {
      namespace: metadata.namespace ?? '',
      service: metadata.labels?.['kubernetes.io/service-name'] ?? '',
      addressType,
      ports: ports ?? [],
      labels: metadata.labels ?? {},
      annotations,
      ownerReferences: metadata.ownerReferences ?? [],
    };
    const key = canonical(identity);
    const group = groups.get(key) ?? { view: identity as unknown as SliceGroupView, slices: [] };
    group.slices.push(slice);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ view, slices }) => {
    const endpoints = slices.flatMap((s) => s.endpoints ?? []);
    const hintsByZone: { [zone: string]: number } = {};
    for (const e of endpoints)
      for (const { name } of e.hints?.forZones ?? []) hintsByZone[name] = (hintsByZone[name] ?? 0) + 1;
    return {
      ...view,
      triggerTimes: [...new Set(slices.flatMap((s) => s.metadata.annotations?.[triggerTime] ?? []))].sort(),
      sizes: slices.map((s) => (s.endpoints ?? []).length).sort((a, b) => b - a),
      endpoints: hintsByCount ? endpoints.map(({ hints: _, ...e }) => e) : endpoints,
      ...(Object.keys(hintsByZone).length > 0 && { hintsByZone }),
    };
  });
}

export const eventViews = (store: Store): EventView[] =>
  (
    store.list('Event') as unknown as readonly (RawObject & {
      type: string;
      reason: string;
      involvedObject: { kind: string; namespace?: string; name: string };
    })[]
  ).map(({ type, reason, involvedObject: { kind, namespace = '', name } }) => ({
    type,
    reason,
    kind,
    namespace,
    name,
  }));

/** JSON with sorted keys; null, empty and absent lists, maps and node names are the same. */
export const canonical = (value: unknown): string => JSON.stringify(normal(value)) ?? 'null';

function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([key, v]) => !isEmpty(v) && !(key === 'nodeName' && v === ''))
    .map(([key, v]) => [key, normal(v)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields);
}

const isEmpty = (v: unknown): boolean =>
  v === null ||
  v === undefined ||
  (Array.isArray(v) && v.length === 0) ||
  (typeof v === 'object' && Object.keys(v as object).length === 0);
