import type { TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import type { AddressType, EndpointSlice, EventSketch, Node, Pod, Service } from '#shared/kube/types.ts';
import type { Efficiency } from './efficiency.ts';

/**
 * Topology state of one service that outlives a run (upstream: topologycache, per process; TA-8).
 * `zones`: address type → zone → number of hints given. An address type without hints is absent.
 */
export interface HintsRecord {
  readonly populated: boolean;
  readonly zones: { readonly [T in AddressType]?: { readonly [zone: string]: number } };
}

/** Input of one run of the EndpointSlice controller. */
export interface SlicesInput {
  readonly service: Service | undefined;
  /** The pods of the namespace that the service's selector matches, in any order. */
  readonly pods: readonly Pod[];
  /** Every node of the cluster, by name. */
  readonly nodes: ReadonlyMap<string, Node>;
  /** Names of the zones that traffic is to leave; none if left out. */
  readonly zonesAway?: ReadonlySet<string> | undefined;
  /** Slices with that managed-by and this service's name label, pending deletion included (ES-5, ES-6). */
  readonly slices: readonly EndpointSlice[];
  readonly triggerTimes: TriggerTimes | undefined;
  readonly hints: HintsRecord | undefined;
  readonly maxEndpointsPerSlice: number;
  /** The managed-by label of `slices` and of those to come; upstream's if left out. */
  readonly managedBy?: string;
}

/** A slice to be created: whole but for its name, which the write-back gives (slice-name.ts). */
export type SliceDraft = Omit<EndpointSlice, 'metadata'> & {
  readonly metadata: Omit<EndpointSlice['metadata'], 'name'>;
};

/**
 * The writes of one address type, to be made in this order: creates, updates, deletes (ES-55); recycling is
 * done.
 */
export interface AddressTypePlan extends Efficiency {
  readonly addressType: string;
  readonly create: readonly SliceDraft[];
  /**
   * Whole objects, each with the resourceVersion of what it replaces. A recycled one is otherwise new: it
   * takes the name, uid and resourceVersion of a slice that would be deleted, and nothing else (ES-57, where
   * upstream overwrites unconditionally).
   */
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
  /** Hint events, recorded after the writes even if they failed (ES-63). */
  readonly events: readonly EventSketch[];
  /** Errors found while computing (ES-32); the writes are made all the same, then the run fails with them. */
  readonly errors: readonly string[];
  /** For ME-7: writes, with the creates that a service being deleted does not get (ES-59). */
  readonly slicesChanged: number;
  /** ES-38 and ES-35, for ME-1 and ME-2. */
  readonly endpointsAdded: number;
  readonly endpointsRemoved: number;
}

export interface SlicesPlan {
  /**
   * Empty for a service that is not reconciled: without a selector, of type ExternalName, or gone (ES-2: no
   * API call).
   */
  readonly addressTypes: readonly AddressTypePlan[];
  /** Slices of address types that the service no longer has: deleted last, each on its own (ES-14). */
  readonly unsupported: readonly EndpointSlice[];
  /**
   * The next states, saved whether or not the writes succeed; undefined: forget. Hints are forgotten with the
   * service (unlike ES-3).
   */
  readonly triggerTimes: TriggerTimes | undefined;
  readonly hints: HintsRecord | undefined;
  /** Label values of ME-7 and ME-9. */
  readonly topology: 'Auto' | 'Disabled';
  readonly trafficDistribution: string;
}
