import type { Labels } from '#shared/kube/labels.ts';
import type { AddressType, EndpointSlice, EventSketch, Service } from '#shared/kube/types.ts';
import { type Desired, desiredEndpoints } from './desired.ts';
import { efficiency, type GroupCount } from './efficiency.ts';
import { finalize } from './finalize.ts';
import { addHints, removeHints } from './hints/endpoint-hints.ts';
import { hintsEnabled, recordWithHints, recordWithoutHints, zoneRatios } from './hints/topology.ts';
import { hintByTrafficDistribution, trafficDistributionOf } from './hints/traffic-distribution.ts';
import { sliceLabels } from './labels.ts';
import { serviceEvent } from './outcome.ts';
import type { AddressTypePlan, HintsRecord, SlicesInput } from './plan.ts';
import { isOwnedBy, newSlice, type PlannedSlice, type SliceSet } from './planned-slice.ts';
import { type PortMapping, reconcileByPortMapping } from './port-mapping.ts';
import { portMapKey } from './ports.ts';

export interface Reconciled {
  readonly plan: AddressTypePlan;
  readonly hints: HintsRecord | undefined;
}

export interface SlicesRun {
  readonly input: SlicesInput;
  readonly service: Service;
  readonly triggerTime: string | undefined;
}

/** One address type, as upstream's reconcileByAddressType. `existing`: the slices of that type, by name. */
export function reconcileByAddressType(
  run: SlicesRun,
  addressType: AddressType,
  existing: readonly EndpointSlice[],
  hints: HintsRecord | undefined,
): Reconciled {
  const { input, service, triggerTime } = run;
  return planAddressType(addressType, existing, {
    service,
    triggerTime,
    maxEndpointsPerSlice: input.maxEndpointsPerSlice,
    desired: desiredEndpoints(service, input, addressType),
    labels: sliceLabels(service, input.managedBy),
    isPlaceheld: true,
    decideHints: (slices) => decideHints(run, addressType, slices, hints),
  });
}

/** The desired endpoints of one address type, and how their slices are made. */
export interface AddressTypeToPlan {
  readonly service: Service;
  readonly triggerTime: string | undefined;
  readonly maxEndpointsPerSlice: number;
  readonly desired: Desired;
  /** Of each slice. */
  readonly labels: Labels;
  /** A slice without endpoints stands for a service without pods. */
  readonly isPlaceheld: boolean;
  readonly decideHints: (slices: SliceSet) => HintDecision;
}

/** `existing`: the slices of the address type, by name. */
export function planAddressType(
  addressType: AddressType,
  existing: readonly EndpointSlice[],
  to: AddressTypeToPlan,
): Reconciled {
  const { service, triggerTime, desired } = to;
  const placed = place(to, existing);
  const hinted = to.decideHints(placed);
  const writes = finalize({
    service,
    addressType,
    triggerTime,
    create: hinted.slices.create,
    update: hinted.slices.update,
    delete: placed.delete,
  });
  const { added, removed, counts } = placed;
  const plan = {
    addressType,
    ...writes,
    events: hinted.events,
    errors: desired.errors,
    endpointsAdded: added,
    endpointsRemoved: removed,
    ...efficiency(counts.values(), to.maxEndpointsPerSlice),
  };
  return { plan, hints: hinted.record };
}

interface Placed extends PortMapping {
  /** By port map key. */
  readonly counts: ReadonlyMap<string, GroupCount>;
}

/** Every group of ports on its own, then the slices that belong to none, then the placeholder (ES-34..51). */
function place(
  { service, labels, desired: { groups }, maxEndpointsPerSlice, isPlaceheld }: AddressTypeToPlan,
  existing: readonly EndpointSlice[],
): Placed {
  const create: PlannedSlice[] = [];
  const update: PlannedSlice[] = [];
  const unchanged: EndpointSlice[] = [];
  const toDelete = existing.filter((slice) => !isOwnedBy(slice, service));
  const owned = Map.groupBy(
    existing.filter((slice) => isOwnedBy(slice, service)),
    (slice) => portMapKey(slice.ports),
  );
  const counts = new Map<string, GroupCount>();
  let [added, removed] = [0, 0];
  for (const [key, group] of groups) {
    const slices = owned.get(key) ?? [];
    const endpoints = group.endpoints.size;
    const mapping = reconcileByPortMapping(labels, slices, group, maxEndpointsPerSlice);
    create.push(...mapping.create);
    update.push(...mapping.update);
    unchanged.push(...mapping.unchanged);
    toDelete.push(...mapping.delete);
    added += mapping.added;
    removed += mapping.removed;
    counts.set(key, { endpoints, slices: slices.length + mapping.create.length - mapping.delete.length });
  }
  toDelete.push(...[...owned].filter(([key]) => !groups.has(key)).flatMap(([, slices]) => slices));

  if (existing.length === toDelete.length && create.length === 0 && isPlaceheld) {
    counts.set(portMapKey([]), { endpoints: 0, slices: 1 });
    const isThere = toDelete.length === 1 && toDelete.every((slice) => isPlaceholder(slice, service, labels));
    if (isThere) unchanged.push(...toDelete.splice(0));
    else create.push(placeholderSlice(labels));
  }
  return { create, update, unchanged: unchanged.sort(bySliceName), delete: toDelete, added, removed, counts };
}

export interface HintDecision {
  readonly slices: SliceSet;
  readonly record: HintsRecord | undefined;
  readonly events: readonly EventSketch[];
}

/** By annotation, else by trafficDistribution, else none (TA-16, TA-18, TD-1). */
function decideHints(
  { input, service }: SlicesRun,
  addressType: AddressType,
  slices: SliceSet,
  record: HintsRecord | undefined,
): HintDecision {
  const event = (text: string, type: EventSketch['type'] = 'Warning'): EventSketch => {
    const reason = type === 'Normal' ? 'TopologyAwareHintsEnabled' : 'TopologyAwareHintsDisabled';
    return serviceEvent(service, type, reason, `${text}, addressType: ${addressType}`);
  };

  if (hintsEnabled(service)) {
    const hinted = addHints(slices, input.nodes.size > 0 ? zoneRatios(input.nodes.values()) : new Map());
    if (typeof hinted.result === 'string')
      return {
        slices: hinted.slices,
        record: recordWithoutHints(record, addressType),
        events: [event(hinted.result)],
      };
    const events = record?.populated ? [] : [event('Topology Aware Hints has been enabled', 'Normal')];
    return { slices: hinted.slices, record: recordWithHints(record, addressType, hinted.result), events };
  }

  const value = trafficDistributionOf(service);
  return {
    slices: value ? hintByTrafficDistribution(slices, value) : removeHints(slices),
    record: recordWithoutHints(record, addressType),
    events: record?.populated ? [event('Topology Aware Hints has been disabled')] : [],
  };
}

const bySliceName = (a: EndpointSlice, b: EndpointSlice): number =>
  a.metadata.name < b.metadata.name ? -1 : 1;

/** The placeholder of an address type without endpoints: a slice without endpoints and ports (ES-47). */
function placeholderSlice(labels: Labels): PlannedSlice {
  return newSlice(labels, [], []);
}

/**
 * Is this slice the placeholder already (ES-48)? The address type is given. Names are not looked at, and a
 * label that is missing counts as an empty one: a headless label too many or too few makes no difference. Its
 * owner is the Service by uid, as from v1.38 on: one of a former Service would be garbage-collected, and
 * leave the Service without a slice until its next run (ES-49, D38).
 */
function isPlaceholder(slice: EndpointSlice, service: Service, labels: Labels): boolean {
  return (
    !slice.endpoints?.length &&
    !slice.ports?.length &&
    (slice.metadata.namespace ?? '') === (service.metadata.namespace ?? '') &&
    slice.metadata.ownerReferences?.length === 1 &&
    slice.metadata.ownerReferences[0]?.uid === service.metadata.uid &&
    missingAsEmpty(slice.metadata.labels ?? {}, labels)
  );
}

function missingAsEmpty(a: Labels, b: Labels): boolean {
  return [...Object.keys(a), ...Object.keys(b)].every((key) => (a[key] ?? '') === (b[key] ?? ''));
}
