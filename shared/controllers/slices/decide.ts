import { computeTriggerTime } from '#shared/controllers/triggertime/tracker.ts';
import { podsStaying } from '#shared/controllers/zones/pods-away.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { hintsEnabled, recordWithoutHints } from './hints/topology.ts';
import { trafficDistributionOf } from './hints/traffic-distribution.ts';
import type { AddressTypePlan, SlicesInput, SlicesPlan } from './plan.ts';
import { reconcileByAddressType } from './reconcile.ts';

/**
 * Returns the writes of the EndpointSlice controller for a service: syncService of
 * pkg/controller/endpointslice and Reconcile of k8s.io/endpointslice. Upstream's slice tracker is missing, so
 * `slices` must be the slices that the API server holds.
 *
 * The result does not depend on the order of anything in the input. The input is not changed.
 */
export function decideSlices(input: SlicesInput): SlicesPlan {
  const { service } = input;
  // the state of a service that is gone is forgotten, hints too (upstream keeps those: ES-3)
  if (!service) return { ...nothing, triggerTimes: undefined, hints: undefined };
  const isReconciled = service.spec?.type !== 'ExternalName' && service.spec?.selector;
  if (!isReconciled) return { ...nothing, triggerTimes: input.triggerTimes, hints: input.hints };
  return reconcile(input, service);
}

function reconcile(input: SlicesInput, service: Service): SlicesPlan {
  // By all pods: otherwise the return of a zone would count as a change of its pods.
  const { triggerTime, next } = computeTriggerTime(input.triggerTimes, service, input.pods);
  const staying = { ...input, pods: podsStaying(service, input) };
  const slices = input.slices.filter((slice) => !slice.metadata.deletionTimestamp).sort(byName);
  const types = addressTypesOf(service);
  const unsupported = slices.filter((slice) => !types.some((type) => type === slice.addressType));
  let hints = unsupported.reduce(
    (record, slice) => recordWithoutHints(record, slice.addressType),
    input.hints,
  );

  const addressTypes: AddressTypePlan[] = [];
  for (const type of types) {
    const existing = slices.filter((slice) => slice.addressType === type);
    const reconciled = reconcileByAddressType(
      { input: staying, service, triggerTime },
      type,
      existing,
      hints,
    );
    hints = reconciled.hints;
    addressTypes.push(reconciled.plan);
  }
  return {
    addressTypes,
    unsupported,
    triggerTimes: next,
    hints,
    topology: hintsEnabled(service) ? 'Auto' : 'Disabled',
    trafficDistribution: trafficDistributionOf(service) ?? '',
  };
}

const nothing = { addressTypes: [], unsupported: [], topology: 'Disabled', trafficDistribution: '' } as const;

const byName = (a: EndpointSlice, b: EndpointSlice): number => (a.metadata.name < b.metadata.name ? -1 : 1);
