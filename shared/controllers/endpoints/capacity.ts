import type { EndpointAddress, EndpointSubset } from '#shared/kube/types.ts';

/** Most addresses that one Endpoints may have (G-4). */
export const maxCapacity = 1000;

export function countAddresses(subsets: readonly EndpointSubset[] | null | undefined): {
  readonly ready: number;
  readonly notReady: number;
} {
  let ready = 0;
  let notReady = 0;
  for (const subset of subsets ?? []) {
    ready += subset.addresses?.length ?? 0;
    notReady += subset.notReadyAddresses?.length ?? 0;
  }
  return { ready, notReady };
}

/**
 * At most 1000 addresses, ready ones first, each subset in proportion (EP-67..69); undefined when they fit as
 * they are. A subset left without addresses goes: upstream keeps it, and the API refuses the object for ever
 * (EP-69b; a deliberate difference).
 */
export function truncate(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const { ready, notReady } = countAddresses(subsets);
  if (ready + notReady <= maxCapacity) return undefined;
  const takeReady = ready > maxCapacity ? proportionally(ready, maxCapacity) : everything;
  const takeNotReady = ready > maxCapacity ? nothing : proportionally(notReady, maxCapacity - ready);
  return subsets
    .map(({ addresses, notReadyAddresses, ...rest }) => {
      const kept = takeReady(addresses ?? []);
      const keptNotReady = takeNotReady(notReadyAddresses ?? []);
      return {
        ...(kept.length > 0 && { addresses: kept }),
        ...(keptNotReady.length > 0 && { notReadyAddresses: keptNotReady }),
        ...rest,
      };
    })
    .filter((subset) => subset.addresses || subset.notReadyAddresses);
}

type Take = (addresses: readonly EndpointAddress[]) => readonly EndpointAddress[];

const everything: Take = (addresses) => addresses;
const nothing: Take = () => [];

/**
 * Divides `budget` among the lists in their order. Each share is rounded up, so the last lists get the
 * remainder.
 */
function proportionally(total: number, budget: number): Take {
  let remaining = budget;
  return (addresses) => {
    // divided first, then multiplied: another order rounds otherwise than upstream
    const share = Math.min(Math.ceil((addresses.length / total) * budget), remaining);
    const kept = addresses.slice(0, share);
    remaining -= kept.length;
    return kept;
  };
}
