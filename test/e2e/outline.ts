import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';

export interface SubsetOutline {
  /** Names of pods. */
  readonly ready: readonly string[];
  readonly notReady: readonly string[];
  /** As in `http:8080/TCP`. */
  readonly ports: readonly string[];
}
export interface SliceOutline {
  readonly addressType: string;
  readonly ports: readonly string[];
  /** Pod → those of ready, serving and terminating that hold. */
  readonly endpoints: { readonly [pod: string]: string };
}

/** Returns the content of the Endpoints, without the order of subsets (RS-16), addresses and ports. */
export function outlineOfEndpoints(endpoints: Endpoints | undefined): readonly SubsetOutline[] | undefined {
  const names = (
    list: readonly { readonly targetRef?: { readonly name?: string }; readonly ip: string }[] | undefined,
  ): readonly string[] => (list ?? []).map((a) => a.targetRef?.name ?? a.ip).sort();
  return (
    endpoints &&
    byText(
      (endpoints.subsets ?? []).map((s) => ({
        ready: names(s.addresses),
        notReady: names(s.notReadyAddresses),
        ports: ports(s.ports),
      })),
    )
  );
}

/**
 * Returns the content of the slices, without the order of slices, endpoints and ports, which is free (ES-42).
 */
export function outlineOfSlices(slices: readonly EndpointSlice[]): readonly SliceOutline[] {
  return byText(
    slices.map((s) => ({
      addressType: s.addressType,
      ports: ports(s.ports),
      endpoints: Object.fromEntries(
        (s.endpoints ?? [])
          .map(({ conditions, targetRef, addresses }): [string, string] => [
            targetRef?.name ?? addresses.join(),
            (['ready', 'serving', 'terminating'] as const).filter((c) => conditions?.[c]).join(' '),
          ])
          .sort(),
      ),
    })),
  );
}

interface Port {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
}
const ports = (list: readonly Port[] | null | undefined): readonly string[] =>
  (list ?? []).map((p) => `${p.name ?? ''}:${p.port}/${p.protocol}`).sort();

function byText<T>(list: readonly T[]): readonly T[] {
  const text = (x: T): string => JSON.stringify(x);
  return list.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}
