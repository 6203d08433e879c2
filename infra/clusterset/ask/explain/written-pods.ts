/** The addresses of a source as the importer's last run wrote them, each with the pod that has it. */
import type { SourceExplanation } from '#infra/cli/ask/explain/explanation.ts';
import type { WrittenSource } from '#shared/clusterset/imports/written-sources.ts';
import { canonicalIP } from '#shared/kube/ip.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { SourcePod } from './imported-pods.ts';

export interface WantedPods {
  /** The pods of the source's snapshot, and what they would be in the import. */
  readonly pods: readonly Pod[];
  readonly wanted: readonly SourcePod[];
}

/** `written` undefined: the slices have nothing of the source. */
export function asWritten(
  { pods, wanted }: WantedPods,
  written: WrittenSource | undefined,
): Pick<SourceExplanation, 'addresses' | 'ready' | 'pods'> {
  const { addresses = 0, ready = 0, named = { ready: [], notReady: [] } } = written ?? {};
  // Too many addresses are not named: pods are as of the source's snapshot.
  if (written && !written.named) return { addresses, ready, pods: wanted };
  const places = new Map([
    ...named.ready.map((address) => [address, 'ready'] as const),
    ...named.notReady.map((address) => [address, 'not ready'] as const),
  ]);
  const told = wanted.map((pod): SourcePod => {
    const listed = addressesOf(pods.find((p) => p.metadata.name === pod.pod)).filter((a) => places.has(a));
    return placed(pod, listed, places);
  });
  const ofPods = new Set(told.flatMap((pod) => pod.addresses));
  const ofNone = [...places].filter(([address]) => !ofPods.has(address));
  return {
    ...{ addresses, ready },
    pods: [
      ...told,
      ...ofNone.map(([address, place]) => ({
        ...{ pod: '', place, addresses: [address] },
        why: 'no pod of the source has this address now, and the last run wrote it',
      })),
    ],
  };
}

function placed(
  pod: SourcePod,
  listed: readonly string[],
  places: ReadonlyMap<string, SourcePod['place']>,
): SourcePod {
  const place = places.get(listed[0] ?? '') ?? 'absent';
  const remark =
    place === pod.place
      ? ''
      : place === 'absent'
        ? '; the last run has not written it'
        : `; the last run wrote it as ${place}`;
  return { ...pod, place, addresses: listed, why: `${pod.why}${remark}` };
}

const addressesOf = (pod: Pod | undefined): readonly string[] =>
  (pod?.status?.podIPs ?? []).map(({ ip }) => canonicalIP(ip)?.text ?? ip);
