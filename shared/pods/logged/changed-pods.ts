/** The Pods whose state in the outputs a plan changes. Pure. */
import { canonicalIP } from '#shared/kube/ip.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { Output, OutputChange } from '../view.ts';

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

/** Returns the states of addresses, by their texts. */
function statesIn(outputs: readonly Output[]): ReadonlyMap<string, State> {
  return new Map(outputs.flatMap((o) => ('addressType' in o ? endpointsOf(o) : addressesOf(o))));
}

const endpointsOf = ({ addressType, endpoints }: Extract<Output, { addressType: string }>): readonly (readonly [string, State])[] =>
  (endpoints ?? []).map((e) => [textOf([addressType, e]), { pod: e.targetRef?.name, address: e.addresses[0] ?? '' }]);

const addressesOf = ({ subsets }: Exclude<Output, { addressType: string }>): readonly (readonly [string, State])[] =>
  (subsets ?? []).flatMap(({ addresses, notReadyAddresses }) =>
    [addresses ?? [], notReadyAddresses ?? []].flatMap((all, i) =>
      all.map((a) => [textOf([i, a]), { pod: a.targetRef?.name, address: a.ip }] as const),
    ),
  );

/** Zone and hints follow from Nodes and from all Pods together. */
const left = new Set(['zone', 'hints']);

/** Returns the JSON of all other fields, in the order of their names. The API server leaves out empty fields. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, field: unknown) => {
    if (left.has(key) || field === '' || field === null) return undefined;
    if (typeof field !== 'object' || Array.isArray(field)) return field;
    return Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
