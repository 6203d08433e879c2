import type { Service } from '#shared/kube/types.ts';
import { selectorsVersion } from '#shared/store/namespaces.ts';
import { decodeObjectOf, readObjects } from '#shared/store/objects.ts';
import type { Table } from '#shared/store/table.ts';
import type { Cache, CachedSelectors } from './kept.ts';

/**
 * The namespace's services. `versionNow`: the version, where it was just learnt in another way. Called after the pod was written: the version is
 * read (strong) first, then the services if it has moved, and they are kept under the version read before, so that a service written in between is
 * not missed. For that the version is raised after a service is written, and before its wake-up is sent.
 */
export async function servicesOf(
  table: Table,
  cache: Cache<CachedSelectors>,
  cluster: string,
  namespace: string,
  versionNow?: number,
): Promise<readonly Service[]> {
  const key = `${cluster}/${namespace}`;
  const version = versionNow ?? (await selectorsVersion({ table, cluster }, namespace));
  const cached = cache.get(key);
  if (cached?.version === version) return cached.services;
  const records = await readObjects({ table, cluster }, 'Service', namespace);
  const services = records.flatMap((r) => decodeObjectOf('Service', r) ?? []);
  cache.set(key, { version, services });
  return services;
}
