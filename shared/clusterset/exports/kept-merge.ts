import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import type { AddressType, Service } from '#shared/kube/types.ts';
import type { MergedExports } from './merge.ts';

export interface ToKeep {
  readonly current: ServiceImport;
  readonly derived: Service | undefined;
  /** The clusters of which the hub does not know what they export: at least one. */
  readonly unknown: readonly string[];
}

/**
 * Returns the merge of an import while the hub does not know what some of its clusters export: the import as
 * it is now. The known exports alone could take away ports, or have the derived Service created again with
 * another type. `merged`: of the known exports.
 */
export function keptMerge(
  merged: MergedExports | undefined,
  { current, derived, unknown }: ToKeep,
): MergedExports {
  const { ips: _, ...spec } = current.spec;
  return {
    winner: { cluster: unknown[0] ?? '', uid: '' },
    conflicts: [],
    ...merged,
    spec: { ...spec, ipFamilies: familiesOf(current, derived) },
    labels: current.metadata.labels ?? {},
    annotations: current.metadata.annotations ?? {},
    clusters: [...(merged?.clusters ?? []), ...unknown],
  };
}

/** An empty list stands for both families, of which a cluster takes its own (derived-service.ts). */
function familiesOf({ spec }: ServiceImport, derived: Service | undefined): readonly AddressType[] {
  const { ipFamilyPolicy, ipFamilies } = derived?.spec ?? {
    ipFamilyPolicy: 'SingleStack',
    ipFamilies: spec.ipFamilies,
  };
  return ipFamilyPolicy === 'SingleStack' ? ((ipFamilies ?? []) as readonly AddressType[]) : [];
}
