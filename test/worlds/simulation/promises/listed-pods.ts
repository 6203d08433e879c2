/** Pods as the API server listed them to a worker. */
import { type Selector, sameSelectors } from '#shared/kube/selectors/label-selector.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { isEndpoint } from './truth.ts';

export interface ListedPods {
  readonly namespace: string;
  readonly selector: Selector | undefined;
  readonly pods: readonly Pod[];
}

/**
 * Is it a list of the service's pods, by one of the selectors known, that does not show the pod as an
 * endpoint?
 */
export function deniesEndpoint(
  { namespace, selector, pods }: ListedPods,
  pod: Pod,
  services: readonly Service[],
): boolean {
  if (
    namespace !== pod.metadata.namespace ||
    !services.some((s) => sameSelectors(s.spec?.selector, selector))
  )
    return false;
  const live = pods.find((p) => p.metadata.uid === pod.metadata.uid);
  return live === undefined || services.some((s) => !isEndpoint(live, s));
}
