/** Names of single pods in DNS, which a headless Service gives by the hostname of its endpoints. */
import { hasClusterIPNone } from '#shared/kube/services.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { type Cause, note } from '../cause.ts';
import { someNames } from '../named-pods.ts';

/** `pods` are the selected ones that run: of those that want such a name, the ones that do not get it here. */
export function hostnameCauses(service: Service, pods: readonly Pod[]): readonly Cause[] {
  const { name } = service.metadata;
  if (!hasClusterIPNone(service)) return [];
  const others = pods.filter(({ spec }) => spec?.hostname && (spec.subdomain ?? '') !== name);
  return [...Map.groupBy(others, ({ spec }) => spec?.subdomain ?? '')].map(([subdomain, alike]) => ({
    ...note(
      'NoHostname',
      `${someNames(alike.map((p) => p.metadata.name))} ${alike.length === 1 ? 'has' : 'have'} no DNS name of ${name}, as ${alike[0]?.spec?.hostname}.${name}: ${subdomain === '' ? 'the pod has a hostname and no subdomain' : `the subdomain is ${subdomain}`}`,
      `if clients need such names: subdomain ${name} in the pod's spec, which of a StatefulSet is its serviceName`,
    ),
    pods: alike.map((p) => p.metadata.name),
  }));
}
