/**
 * Which addresses of each source an import gets: in the order of precedence, each address and port once
 * (MC-61, MC-84), of 5,000 pods at most (MC-59).
 */

import { portsByPod } from '#shared/controllers/slices/ports.ts';
import { type Cidr, cidrContains } from '#shared/kube/cidr.ts';
import { canonicalIP } from '#shared/kube/ip.ts';
import { isServing, shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import type { EndpointSlice, Pod, Service, SlicePort } from '#shared/kube/types.ts';

export interface SourcePods {
  readonly cluster: string;
  /** The exported Service, with the ports that the import exposes of it. */
  readonly service: Service;
  /** The pods that the Service selects. */
  readonly pods: readonly Pod[];
  /** The cluster's own ranges of pod addresses; undefined: any address. */
  readonly podCidrs: readonly Cidr[] | undefined;
}

export type LeftOutReason =
  | { readonly kind: 'outside-cidrs' }
  /**
   * Two slices with one address and different conditions: which of them kube-proxy takes is chance.
   * `with.pod` is empty where the other source is silent, whose slices name no pods.
   */
  | { readonly kind: 'collision'; readonly with: { readonly cluster: string; readonly pod: string } }
  | { readonly kind: 'too-many' };

export interface LeftOut {
  readonly cluster: string;
  readonly pod: string;
  readonly address: string;
  readonly reason: LeftOutReason;
}

export interface ChosenPods {
  /** By cluster: its pods with the addresses that are left of each. A pod without any is not there. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly leftOut: readonly LeftOut[];
}

export const maxEndpoints = 5_000;

interface Owner {
  readonly cluster: string;
  readonly pod: string;
}

/**
 * `sources` are in the order of their precedence. `kept` are slices of other sources, which stay as they are,
 * so their addresses are in use.
 */
export function choosePods(
  sources: readonly SourcePods[],
  kept: readonly KeptSlice[] = [],
  most = maxEndpoints,
): ChosenPods {
  const taken = takenBy(kept);
  const leftOut: LeftOut[] = [];
  const offers = sources.map((source) => ({
    cluster: source.cluster,
    pods: addressedPods(source, taken, leftOut),
  }));
  const room = roomOf(
    offers.map(({ pods }) => pods.map(isServing)),
    most,
  );
  const pods = offers.map(({ cluster, pods }, i) => {
    const { serving, others } = room[i] as Room;
    const of = [
      pods.filter(isServing).slice(0, serving),
      pods.filter((pod) => !isServing(pod)).slice(0, others),
    ].flat();
    const inside = new Set(of);
    for (const pod of pods)
      if (!inside.has(pod))
        for (const { ip } of pod.status?.podIPs ?? [])
          leftOut.push({ cluster, pod: pod.metadata.name, address: ip, reason: { kind: 'too-many' } });
    return [cluster, of] as const;
  });
  return { pods: new Map(pods), leftOut };
}

/** Returns the pods of a source with their free addresses, which are taken from then on. */
function addressedPods(
  { cluster, service, pods, podCidrs }: SourcePods,
  taken: Map<string, Owner>,
  leftOut: LeftOut[],
): readonly Pod[] {
  const portsOf = portsByPod(service);
  return [...pods].sort(readyFirst).flatMap((pod) => {
    if (!shouldPodBeInEndpoints(pod, true)) return [];
    const owner: Owner = { cluster, pod: pod.metadata.name };
    const { ports } = portsOf(pod);
    const addresses = (pod.status?.podIPs ?? []).flatMap(({ ip }) => canonicalIP(ip)?.text ?? []);
    const kept = addresses.filter((address) => {
      const keys = keysOf(address, ports);
      const reason = refusal(address, keys);
      if (reason) leftOut.push({ ...owner, address, reason });
      else for (const key of keys) taken.set(key, owner);
      return !reason;
    });
    return kept.length === 0
      ? []
      : [{ ...pod, status: { ...pod.status, podIP: kept[0] as string, podIPs: kept.map((ip) => ({ ip })) } }];
  });

  function refusal(address: string, keys: readonly string[]): LeftOutReason | undefined {
    if (podCidrs && !podCidrs.some((cidr) => cidrContains(cidr, address))) return { kind: 'outside-cidrs' };
    const other = keys.map((key) => taken.get(key)).find((owner) => owner !== undefined);
    return other && { kind: 'collision', with: other };
  }
}

/** How many pods of a source are in the import. */
interface Room {
  readonly serving: number;
  readonly others: number;
}

/**
 * Pods that serve come first over all sources, so no source keeps those of another one out with pods that do
 * not.
 */
function roomOf(sources: readonly (readonly boolean[])[], most: number): readonly Room[] {
  const serving = shares(
    sources.map((pods) => pods.filter((serves) => serves).length),
    most,
  );
  const others = shares(
    sources.map((pods) => pods.filter((serves) => !serves).length),
    most - serving.reduce((sum, n) => sum + n, 0),
  );
  return sources.map((_, i) => ({ serving: serving[i] as number, others: others[i] as number }));
}

/**
 * Gives each source the same share of `most`. What a source does not need goes to the others, and what cannot
 * be shared equally to the first ones.
 */
function shares(needs: readonly number[], most: number): readonly number[] {
  let left = most;
  let waiting = needs.length;
  const given = needs.map(() => 0);
  const bySize = needs.map((need, i) => ({ need, i })).sort((a, b) => a.need - b.need || b.i - a.i);
  for (const { need, i } of bySize) {
    const share = Math.min(need, Math.floor(left / waiting--));
    given[i] = share;
    left -= share;
  }
  return given;
}

export interface KeptSlice {
  readonly cluster: string;
  readonly slice: Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>;
}

function takenBy(kept: readonly KeptSlice[]): Map<string, Owner> {
  const taken = new Map<string, Owner>();
  for (const { cluster, slice } of kept)
    for (const address of (slice.endpoints ?? []).flatMap((e) => e.addresses ?? []))
      for (const key of keysOf(address, slice.ports ?? [])) taken.set(key, { cluster, pod: '' });
  return taken;
}

/** The key of an endpoint without ports is its address. */
const keysOf = (address: string, ports: readonly SlicePort[]): readonly string[] =>
  ports.length === 0 ? [`${address} `] : ports.map((p) => `${address} ${p.port}/${p.protocol}`);

/** Where two pods of one cluster have one address, the one that is going out loses it. */
function readyFirst(a: Pod, b: Pod): number {
  return Number(isServing(b)) - Number(isServing(a)) || (a.metadata.name < b.metadata.name ? -1 : 1);
}
