/**
 * Former states of the clusters of a set with the times of their changes, by which writes of imports are
 * judged.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { SetMember } from './set-state.ts';
import { isExported, isReadyEndpoint, selectorOf } from './set-truth.ts';

export class SetHistory {
  /**
   * Addresses that pods of a namespace ever had, with the apps that they ever were of: by
   * "cluster/namespace".
   */
  readonly #addresses = new Map<string, Map<string, Set<string>>>();
  /** Apps that a Service ever selected: by "cluster/namespace/name". */
  readonly #selected = new Map<string, Set<string>>();
  readonly #everExported = new Set<string>();
  /**
   * Names with a valid export, and when the export of a name was last not valid: by "cluster/namespace/name".
   */
  readonly #exported = new Set<string>();
  readonly #lostAt = new Map<string, number>();
  /** When anything of a name changed last, in any cluster: by "namespace/name". */
  readonly #changedAt = new Map<string, number>();
  /**
   * When a pod's address was last not ready, or anything of the pod changed: by "cluster/namespace/address".
   */
  readonly #podChangedAt = new Map<string, number>();
  /** When everything may have changed. */
  #allChangedAt = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  watch(member: SetMember): void {
    const { store, cluster } = member;
    store.watch('Pod', ({ object }) => this.#onPod(cluster, object));
    store.watch('Service', ({ object }) => {
      const { namespace = '', name } = object.metadata;
      const key = `${cluster}/${namespace}/${name}`;
      const app = selectorOf(object);
      if (app !== undefined) this.#selected.set(key, (this.#selected.get(key) ?? new Set()).add(app));
      this.#onName(member, namespace, name);
    });
    store.watch('ServiceExport', ({ object }) => {
      const { namespace = '', name } = object.metadata;
      this.#everExported.add(`${cluster}/${namespace}/${name}`);
      this.#onName(member, namespace, name);
    });
    store.watch('ServiceImport', ({ object }) =>
      this.#changedAt.set(`${object.metadata.namespace}/${object.metadata.name}`, this.#now()),
    );
    for (const kind of ['Namespace', 'Node'] as const) store.watch(kind, () => this.onAll());
  }

  /** Call after a switch, a restore or a change of a namespace, after which earlier writes do not matter. */
  onAll(): void {
    this.#allChangedAt = this.#now();
  }

  #onPod(cluster: string, { metadata: { namespace = '', labels = {} }, status }: RawObject): void {
    const ip = status?.['podIP'] as string | undefined;
    if (!ip) return;
    const key = `${cluster}/${namespace}`;
    const addresses = this.#addresses.get(key) ?? new Map<string, Set<string>>();
    this.#addresses.set(key, addresses.set(ip, (addresses.get(ip) ?? new Set()).add(labels['app'] ?? '')));
    this.#podChangedAt.set(`${key}/${ip}`, this.#now());
  }

  #onName(member: SetMember, namespace: string, name: string): void {
    this.#changedAt.set(`${namespace}/${name}`, this.#now());
    const key = `${member.cluster}/${namespace}/${name}`;
    const isNow = isExported(member, namespace, name);
    if (!isNow || !this.#exported.has(key)) this.#lostAt.set(key, this.#now());
    if (isNow) this.#exported.add(key);
    else this.#exported.delete(key);
  }

  /** Was the address ever one of a pod that the exported Service selected? */
  everHad(cluster: string, namespace: string, name: string, ip: string): boolean {
    const apps = this.#addresses.get(`${cluster}/${namespace}`)?.get(ip);
    const selected = this.#selected.get(`${cluster}/${namespace}/${name}`);
    return (
      this.#everExported.has(`${cluster}/${namespace}/${name}`) &&
      [...(apps ?? [])].some((app) => selected?.has(app))
    );
  }

  /** Since when nothing has happened that could take the address away. */
  steadySince(cluster: string, namespace: string, name: string, ip: string): number {
    return Math.max(
      this.#allChangedAt,
      this.#changedAt.get(`${namespace}/${name}`) ?? 0,
      this.#podChangedAt.get(`${cluster}/${namespace}/${ip}`) ?? 0,
    );
  }

  /** Since when the cluster has exported the name without a break. */
  exportedSince(cluster: string, namespace: string, name: string): number {
    return Math.max(this.#allChangedAt, this.#lostAt.get(`${cluster}/${namespace}/${name}`) ?? 0);
  }
}

/** Is the address one of a ready endpoint of the exported Service, as its cluster is now? */
export function isDue(member: SetMember, namespace: string, name: string, ip: string): boolean {
  if (member.hasLeft || !isExported(member, namespace, name)) return false;
  const service = member.store.find('Service', namespace, name) as RawObject;
  return member.store
    .list('Pod', namespace)
    .some((pod) => pod.status?.['podIP'] === ip && isReadyEndpoint(pod, service));
}
