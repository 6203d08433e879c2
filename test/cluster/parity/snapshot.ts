/** What was written, as text that is the same whoever wrote it: without what a server draws by lot and without what no rule fixes. */
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { sliceGroups } from '#test/conformance/view.ts';
import type { Names } from './names.ts';

/**
 * What upstream leaves open for a service. `times`: the trigger time, where changes of several times arrive in any order; `packing`: which slice
 * an endpoint lies in, and with it which slices are written (ES-42); `hints`: which endpoint has which zone's hint (TA-13).
 */
export type Open = 'times' | 'packing' | 'hints';
export type OpenEnds = { readonly [service: string]: readonly Open[] };

/** By `Endpoints NS/NAME` and `EndpointSlices NS/SERVICE`. */
export type Snapshot = { readonly [what: string]: unknown };

const triggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
const serviceName = 'kubernetes.io/service-name';

export function snapshot(endpoints: readonly Endpoints[], slices: readonly EndpointSlice[], names: Names, open: OpenEnds = {}): Snapshot {
  const views: { [what: string]: unknown } = {};
  for (const e of endpoints) {
    const { namespace = '', name } = e.metadata;
    const view = settledTimes(e, names, name) as Endpoints;
    views[`Endpoints ${namespace}/${name}`] = inOrder(named(endpointsView(view, open[name] ?? []), names));
  }
  const services = Map.groupBy(slices, ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[serviceName] ?? ''}`);
  for (const [key, list] of services) {
    const service = key.slice(key.indexOf('/') + 1);
    views[`EndpointSlices ${key}`] = slicesView(list, service, names, open[service] ?? []);
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
    // Their order goes by a hash over uids (RS-16).
    subsets: subsets?.toSorted((a, b) => (text(a.ports) < text(b.ports) ? -1 : 1)),
  };
}

function slicesView(slices: readonly EndpointSlice[], service: string, names: Names, open: readonly Open[]): object {
  const list = slices.map((s) => named(settledTimes(s, names, service), names));
  const groups = sliceGroups({ list: () => list as readonly object[] }, open.includes('hints')).map(({ triggerTimes, sizes, endpoints, ...group }) => ({
    ...group,
    endpoints: endpoints.map((e) => inOrder(e)).sort((a, b) => (text(a) < text(b) ? -1 : 1)),
    ...(!open.includes('packing') && { sizes }),
    ...(!open.includes('packing') && !open.includes('times') && { triggerTimes }),
  }));
  const groupName = ({ addressType, ports }: (typeof groups)[number]): string =>
    `${addressType} ${ports.map((p) => text(Object.values(inOrder(p) as object))).join(' ') || 'without ports'}`;
  const byName: { [group: string]: unknown } = {};
  for (const group of groups.toSorted((a, b) => (text(inOrder(a)) < text(inOrder(b)) ? -1 : 1))) {
    let name = groupName(group);
    while (name in byName) name += ' again';
    byName[name] = inOrder(group);
  }
  // Slices that the script has made are told apart by name, and so are their metadata that no controller should touch.
  const own = slices.filter((s) => names.has(s.metadata.uid)).map((s) => [s.metadata.name, s.metadata.finalizers ?? []] as const);
  return own.length > 0 ? { ...byName, "the user's own": Object.fromEntries(own.toSorted()) } : byName;
}

/** A time that is the creation of the object's service is said so. */
function settledTimes<T extends Endpoints | EndpointSlice>(object: T, names: Names, service: string): T {
  const { annotations, namespace = '' } = object.metadata;
  const time = annotations?.[triggerTime];
  if (time === undefined) return object;
  const nth = names.creations(namespace, service).lastIndexOf(time);
  const said = nth < 0 ? time : `creation of Service ${service} #${nth + 1}`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [triggerTime]: said } } };
}

/** Uids as the names of what they stand for. */
function named(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((v) => named(v, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [key, key === 'uid' && typeof v === 'string' ? (names.of(v) ?? 'a uid of nobody') : named(v, names)]),
  );
}

/** Nothing is left out: an empty list differs from none. Undefined fields go, as they do in JSON. */
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
