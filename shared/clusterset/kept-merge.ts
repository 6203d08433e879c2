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
 * The merge of an import while the hub does not know what some of its clusters export: as the import is now, whatever the others say. They would take away
 * ports, or make the derived Service again for another type. `merged`: of the exports that the hub knows.
 */
export function keptMerge(merged: MergedExports | undefined, { current, derived, unknown }: ToKeep): MergedExports {
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

/** None stand for both, of which a cluster takes those that it has (derived-service.ts). */
function familiesOf({ spec }: ServiceImport, derived: Service | undefined): readonly AddressType[] {
  const { ipFamilyPolicy, ipFamilies } = derived?.spec ?? { ipFamilyPolicy: 'SingleStack', ipFamilies: spec.ipFamilies };
  return ipFamilyPolicy === 'SingleStack' ? ((ipFamilies ?? []) as readonly AddressType[]) : [];
}
