/**
 * Renders the outputs as text that is independent of the writer, without random values and without
 * unspecified details.
 */
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { sliceGroups } from '#test/worlds/conformance/view.ts';
import type { Names } from './names.ts';

/**
 * Details that upstream does not specify for a service. `times`: the trigger time, if changes of several
 * times arrive in any order. `packing`: the slice of an endpoint, and so the written slices (ES-42). `hints`:
 * the zone hint of each endpoint (TA-13).
 */
export type Open = 'times' | 'packing' | 'hints';
export type OpenEnds = { readonly [service: string]: readonly Open[] };
export const anyService = '*';

/** By `Endpoints NS/NAME` and `EndpointSlices NS/SERVICE`. */
export type Snapshot = { readonly [what: string]: unknown };

/** Versions of everything written so far, by uid. */
export type Versions = ReadonlyMap<string | undefined, string | undefined>;

const triggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
const serviceName = 'kubernetes.io/service-name';

export interface Written {
  readonly endpoints: readonly Endpoints[];
  readonly slices: readonly EndpointSlice[];
}

/**
 * `before`: the versions before the step. A trigger time counts only where the step has had something
 * written.
 */
export function snapshot(
  { endpoints, slices }: Written,
  before: Versions,
  names: Names,
  open: OpenEnds,
): Snapshot {
  const views: { [what: string]: unknown } = {};
  const openOf = (service: string): readonly Open[] => [
    ...(open[service] ?? []),
    ...(open[anyService] ?? []),
  ];
  const isMoved = ({ metadata }: Endpoints | EndpointSlice): boolean =>
    before.get(metadata.uid) !== metadata.resourceVersion;
  for (const e of endpoints) {
    const { namespace = '', name } = e.metadata;
    const view = endpointsView(saidTime(e, isMoved(e), names, name), openOf(name));
    views[`Endpoints ${namespace}/${name}`] = inOrder(named({ ...view, written: isMoved(e) }, names));
  }
  const services = Map.groupBy(
    slices,
    ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[serviceName] ?? ''}`,
  );
  for (const [key, list] of services) {
    const service = key.slice(key.indexOf('/') + 1);
    const said = list.map((s) => saidTime(s, isMoved(s), names, service));
    views[`EndpointSlices ${key}`] = {
      ...slicesView(said, names, openOf(service)),
      written: list.some(isMoved),
    };
  }
  return views;
}

function endpointsView({ metadata, subsets, ...rest }: Endpoints, open: readonly Open[]): object {
  const { [triggerTime]: time, ...annotations } = metadata.annotations ?? {};
  return {
    ...rest,
    labels: metadata.labels,
    annotations,
    ...(!open.includes('times') && time !== undefined && { triggerTime: time }),
    owners: metadata.ownerReferences,
    finalizers: metadata.finalizers,
    // A hash over uids decides their order (RS-16).
    subsets: subsets?.toSorted((a, b) => (text(a.ports) < text(b.ports) ? -1 : 1)),
  };
}

function slicesView(slices: readonly EndpointSlice[], names: Names, open: readonly Open[]): object {
  const list = slices.map((s) => named(s, names));
  const groups = sliceGroups({ list: () => list as readonly object[] }, open.includes('hints')).map(
    ({ triggerTimes, sizes, endpoints, ...group }) => ({
      ...group,
      endpoints: endpoints.map((e) => inOrder(e)).sort((a, b) => (text(a) < text(b) ? -1 : 1)),
      ...(!open.includes('packing') && { sizes }),
      ...(!open.includes('packing') && !open.includes('times') && { triggerTimes }),
    }),
  );
  const groupName = ({ addressType, ports }: (typeof groups)[number]): string =>
    `${addressType} ${ports.map((p) => text(Object.values(inOrder(p) as object))).join(' ') || 'without ports'}`;
  const byName: { [group: string]: unknown } = {};
  for (const group of groups.toSorted((a, b) => (text(inOrder(a)) < text(inOrder(b)) ? -1 : 1))) {
    let name = groupName(group);
    while (name in byName) name += ' again';
    byName[name] = inOrder(group);
  }
  // Slices of the script are identified by name, with metadata that controllers must not touch.
  const own = slices
    .filter((s) => names.has(s.metadata.uid))
    .map((s) => [s.metadata.name, s.metadata.finalizers ?? []] as const);
  return own.length > 0 ? { ...byName, "the user's own": Object.fromEntries(own.toSorted()) } : byName;
}

/**
 * Removes the time if nothing was written. A time that equals the creation of the object's service is
 * replaced by a name.
 */
function saidTime<T extends Endpoints | EndpointSlice>(
  object: T,
  isMoved: boolean,
  names: Names,
  service: string,
): T {
  const { [triggerTime]: time, ...annotations } = object.metadata.annotations ?? {};
  const nth = names.creations(object.metadata.namespace ?? '', service).lastIndexOf(time ?? '');
  const said = nth < 0 ? time : `creation of Service ${service} #${nth + 1}`;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...annotations, ...(isMoved && said !== undefined && { [triggerTime]: said }) },
    },
  };
}

/** Uids as the names of what they stand for. */
function named(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((v) => named(v, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      key,
      key === 'uid' && typeof v === 'string' ? (names.of(v) ?? 'a uid of nobody') : named(v, names),
    ]),
  );
}

/**
 * Keeps all fields, so an empty list differs from a missing one. Undefined fields are dropped, as in JSON.
 */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, v]) => v !== undefined)
      .map(([key, v]) => [key, inOrder(v)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';
