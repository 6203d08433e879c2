/** Pods with one address: hostNetwork pods on one node, or an address that was given twice. */
import { type Cause, note, warning } from './cause.ts';
import { someNames } from './named-pods.ts';
import type { SelectedPod } from './selected-pods.ts';

export function sharedAddresses(live: readonly SelectedPod[]): readonly Cause[] {
  const byAddress = Map.groupBy(live, ({ pod }) => pod.status?.podIP ?? '');
  return [...byAddress].flatMap(([address, alike]) => {
    if (address === '' || alike.length < 2) return [];
    const isHost = alike.every(({ pod }) => pod.spec?.hostNetwork);
    const text = `pods ${someNames(alike.map((p) => p.name))} share the address ${address}`;
    const cause = isHost
      ? note('SharedAddress', `${text}: they use the network of one node (hostNetwork)`)
      : warning(
          'SharedAddress',
          `${text}: a proxy sees one endpoint`,
          'look for a fault of the network plugin',
        );
    return [{ ...cause, pods: alike.map((p) => p.name) }];
  });
}
