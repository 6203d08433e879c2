import { isShadow } from '#shared/clusters/mode.ts';
import type { Service } from '#shared/kube/types.ts';
import { effective, rehearsed } from '#shared/opt-in/writer.ts';
import { selectorsVersion } from '#shared/store/namespaces.ts';
import { decodeObjectOf, readObjects } from '#shared/store/objects.ts';
import type { BatchContext } from '../batch/batch-context.ts';

/**
 * The namespace's services, as new as the call; those that opt in have the selector of their annotation, whatever the cluster's switch was when this
 * batch began: it may be thrown while the batch is under way, and a run that finds it off does nothing. In a shadow cluster a Service with a selector
 * and an annotation is there twice, with each of the two.
 *
 * To be called after the Pod was written. The version of the set is read (strongly consistent) first, then the services if it has moved, and they are
 * cached under that version, so that a Service written in between is not missed. For that the version is raised after a Service is written, and before
 * its wake-up is sent. `versionNow`: the version, if the caller has read it after the write.
 */
export async function servicesOf({ deps, cluster, store }: BatchContext, namespace: string, versionNow?: number): Promise<readonly Service[]> {
  const cache = deps.caches.selectors;
  const key = cacheKey(cluster, namespace);
  const version = versionNow ?? (await selectorsVersion(store, namespace));
  const cached = cache.get(key);
  if (cached?.version === version) return cached.services;
  const records = await readObjects(store, 'Service', namespace);
  const stored = records.flatMap((r) => decodeObjectOf('Service', r) ?? []);
  const services = [
    ...stored.map((service) => effective(service, 'active')),
    ...(isShadow(cluster) ? stored.flatMap((s) => rehearsed(s) ?? []) : []),
  ];
  cache.set(key, { version, services });
  return services;
}

/** The namespace's services as this worker has read them last; none that it has not read, or that it has written since. */
export const knownServicesOf = ({ deps, cluster }: BatchContext, namespace: string): readonly Service[] =>
  deps.caches.selectors.get(cacheKey(cluster, namespace))?.services ?? [];

/**
 * To be called when a Service was written: a service that the former selectors show is not to be woken, for a run that upstream does not have would show
 * where each run writes (Endpoints of a service with a reserved label: EP-59).
 */
export const forgetServicesOf = ({ deps, cluster }: BatchContext, namespace: string): void =>
  deps.caches.selectors.delete(cacheKey(cluster, namespace));

/** What a cluster's services are taken for goes by its mode. */
const cacheKey = (cluster: BatchContext['cluster'], namespace: string): string => `${cluster.id}/${namespace}${isShadow(cluster) ? '/shadow' : ''}`;
