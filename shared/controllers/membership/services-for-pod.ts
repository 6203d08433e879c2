import { type Selector, selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { PodChange } from './pod-change.ts';

/** The fields of a Service that matching reads. Every Service satisfies this type. */
export interface ServiceSelector {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly selector?: Selector | null };
}

/**
 * Names of the services that the change wakes, in the order given. `services` are those of the pod's
 * namespace, ExternalName ones included (PK-11). Mirrors GetServicesToUpdate of k8s.io/endpointslice/util
 * (PK-9..13).
 */
export function servicesForPod(
  { labels, oldLabels, podChanged }: PodChange,
  services: Iterable<ServiceSelector>,
): string[] {
  const names: string[] = [];
  for (const { metadata, spec } of services) {
    const is = selectorMatches(spec?.selector, labels);
    const was = oldLabels ? selectorMatches(spec?.selector, oldLabels) : false;
    const concerned = oldLabels && !podChanged ? is !== was : is || was;
    if (concerned) names.push(metadata.name);
  }
  return names;
}
