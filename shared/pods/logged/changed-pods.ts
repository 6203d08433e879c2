/** The Pods whose state in the outputs a plan changes. Pure. */
import { podFingerprint } from '#shared/kube/endpoint-fields.ts';
import { canonicalIP } from '#shared/kube/ip.ts';
import { listedEndpoints, type Output } from '#shared/kube/listed-endpoints.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { OutputChange } from '../view.ts';

/**
 * Returns names of Pods. An imported endpoint lacks the name, so its Pods are found by address. Returns 'all' if no Pod of `pods` has the address. A Pod
 * that moves to another subset or slice does not change.
 */
export function changedPods({ before, after }: OutputChange, pods: ReadonlyMap<string, Pod>): ReadonlySet<string> | 'all' {
  const [was, is] = [statesIn(before), statesIn(after)];
  const changed = [...[...was].filter(([text]) => !is.has(text)), ...[...is].filter(([text]) => !was.has(text))].map(([, state]) => state);
  const names = new Set(changed.flatMap(({ pod }) => pod ?? []));
  const unnamed = new Set(changed.filter(({ pod }) => pod === undefined).flatMap(({ address }) => canonicalIP(address)?.text ?? []));
  if (unnamed.size === 0) return names;
  const found = new Set<string>();
  for (const [name, { status }] of pods)
    for (const { ip } of status?.podIPs ?? []) {
      const address = canonicalIP(ip)?.text ?? '';
      if (!unnamed.has(address)) continue;
      names.add(name);
      found.add(address);
    }
  return found.size === unnamed.size ? names : 'all';
}

interface State {
  readonly pod: string | undefined;
  readonly address: string;
}

/** Returns the states of addresses, by the texts of the Pods' own fields. */
const statesIn = (outputs: readonly Output[]): ReadonlyMap<string, State> =>
  new Map(
    outputs.flatMap(listedEndpoints).map(({ where, endpoint }) => {
      const { targetRef, addresses } = endpoint;
      return [`${where} ${podFingerprint(endpoint)}`, { pod: targetRef?.name, address: addresses[0] ?? '' }];
    }),
  );
