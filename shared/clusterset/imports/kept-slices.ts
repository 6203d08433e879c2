/**
 * Slices of silent and held sources stay as they are (MC-70), even if their derived Service is created again.
 */
import { isDeepStrictEqual } from 'node:util';
import { sliceLabels } from '#shared/controllers/slices/labels.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import { isOwnedBy } from '#shared/controllers/slices/planned-slice.ts';
import { generateNamePrefix } from '#shared/controllers/slices/slice-name.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { importsManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';

/**
 * `slices`: of one source, which `labels` name. Returns copies, with the same endpoints and ports, of the
 * slices that a former derived Service owns. The garbage collector deletes the originals. A slice that has
 * its copy, from a run that did not end, is not copied again.
 */
export function copiesFor(
  derived: Service,
  labels: Labels,
  slices: readonly EndpointSlice[],
): readonly SliceDraft[] {
  const [own, former] = [
    slices.filter((s) => isOwnedBy(s, derived)),
    slices.filter((s) => !isOwnedBy(s, derived)),
  ];
  const { namespace, name: derivedName, uid = '' } = derived.metadata;
  const types: readonly string[] = addressTypesOf(derived);
  return former
    .filter((slice) => types.includes(slice.addressType) && !own.some((other) => isCopy(other, slice)))
    .map((slice) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: generateNamePrefix(derivedName),
        namespace,
        labels: { ...sliceLabels(derived, importsManagedBy), ...labels },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Service',
            name: derivedName,
            uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      addressType: slice.addressType,
      endpoints: slice.endpoints,
      ports: slice.ports,
    }));
}

const isCopy = (a: EndpointSlice, b: EndpointSlice): boolean =>
  a.addressType === b.addressType &&
  isDeepStrictEqual(a.endpoints, b.endpoints) &&
  isDeepStrictEqual(a.ports, b.ports);
