import { isShadow } from '#shared/clusters/writer/mode.ts';
import type { ServiceSelector } from '#shared/controllers/membership/services-for-pod.ts';
import { withAnnotatedSelector, withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import type { Service } from '#shared/kube/types.ts';
import { selectorsVersion } from '#shared/store/inputs/namespaces.ts';
import { decodeObjectOf, objectPages } from '#shared/store/inputs/objects.ts';
import type { BatchContext } from '../batch/batch-context.ts';

/**
 * Services of one page, which takes at most 7.5 MiB: each has up to 256 KiB (`maxProjectionSize`). Eight
 * namespaces are read at a time.
 */
const servicesPerPage = 30;

/**
 * Yields the selectors of the namespace's Services, page by page, as new as the call. A Service that opts in
 * has the selector of its annotation even if the cluster's switch is off. An operator may switch it during
 * the batch, and a run that finds it off does nothing. In a shadow cluster a Service with a selector and an
 * annotation is in the list twice, with each of the two.
 *
 * Call it after the Pod was written. The version of the set is read first (strongly consistent), then the
 * Services if the version has moved. They are cached under that version, so that the next batch reads a
 * Service that was written in between. For that the version is raised after a Service is written, and before
 * its wake-up is sent. `versionNow`: the version, if the caller has read it after the write.
 */
export async function* selectorsOf(
  batch: BatchContext,
  namespace: string,
  versionNow?: number,
): AsyncGenerator<readonly ServiceSelector[]> {
  const { deps, cluster, store } = batch;
  const cache = deps.caches.selectors;
  const key = cacheKey(cluster, namespace);
  const version = versionNow ?? (await selectorsVersion(store, namespace));
  const cached = cache.get(key);
  if (cached?.version === version) {
    yield cached.services;
    return;
  }
  cache.delete(key);
  const { maxSelectorBytes } = deps.limits.ingest;
  const read: ServiceSelector[] = [];
  let bytes = 0;
  for await (const page of objectPages(store, 'Service', namespace, servicesPerPage)) {
    const services = page
      .flatMap((record) => decodeObjectOf('Service', record) ?? [])
      .flatMap((s) => selectorsIn(s, isShadow(cluster)));
    bytes += services.reduce((sum, s) => sum + bytesOf(s), 0);
    if (bytes <= maxSelectorBytes) read.push(...services);
    yield services;
  }
  if (bytes <= maxSelectorBytes) cache.set(key, { version, services: read, bytes });
}

function selectorsIn(service: Service, isInShadow: boolean): readonly ServiceSelector[] {
  const annotated = isInShadow ? withAnnotatedSelector(service) : undefined;
  return [withOptInSelector(service, 'active'), ...(annotated ? [annotated] : [])].map(
    ({ metadata, spec }) => ({
      metadata: { name: metadata.name },
      spec: { selector: spec?.selector ?? null },
    }),
  );
}

/** Estimate of its memory: the objects, and twice the JSON of the selector. */
const bytesOf = ({ metadata, spec }: ServiceSelector): number =>
  200 + metadata.name.length + 2 * JSON.stringify(spec?.selector ?? null).length;

/** In shadow mode a Service may have two selectors. */
const cacheKey = (cluster: BatchContext['cluster'], namespace: string): string =>
  `${cluster.id}/${namespace}${isShadow(cluster) ? '/shadow' : ''}@${cluster.cacheScope}`;
