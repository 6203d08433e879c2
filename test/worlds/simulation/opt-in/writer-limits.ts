/** Checks each write of the hub in clusters with opt-in by the rules of the writer's admission policies. */
import type { Store } from '#infra/local/apiserver/store.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import { objectKey } from '#shared/store/keys.ts';
import { cluster, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';

type Labelled = {
  readonly metadata: {
    readonly namespace?: string;
    readonly name?: string;
    readonly labels?: { readonly [key: string]: string };
  };
};
const managerOf = (slice: Labelled | undefined): string | undefined =>
  slice?.metadata.labels?.[labelSliceManagedBy];

export class WriterLimits {
  readonly #store: Store;
  readonly #profile: Profile;
  readonly #fail: (what: string) => void;
  /** Writers of each Service with their start, by namespace/name. */
  readonly #writers = new Map<string, { readonly by: string; readonly at: number }[]>();

  constructor(store: Store, profile: Profile, now: () => number, fail: (what: string) => void) {
    this.#store = store;
    this.#profile = profile;
    this.#fail = fail;
    if (profile.optIn === 'off') return;
    const note = ({ metadata }: Labelled, by: string): void => {
      const key = `${metadata.namespace}/${metadata.name}`;
      this.#writers.set(key, [...(this.#writers.get(key) ?? []), { by, at: now() }]);
    };
    store.watch('Service', ({ type, object }) =>
      note(object, type === 'DELETED' ? 'nobody' : writerOf(object).by),
    );
  }

  /** The cluster's API as the actor may use it. */
  hold(actor: Actor, api: ClusterApi): ClusterApi {
    if (this.#profile.optIn === 'off') return api;
    const begunAt = actor.now;
    return {
      ...api,
      create: (kind, object) => {
        this.#check(actor, 'creates', kind, object as Labelled);
        return api.create(kind, object);
      },
      replace: (kind, object) => {
        const { namespace = '', name = '' } = object.metadata;
        this.#check(actor, 'changes', kind, object as Labelled);
        const was = this.#store.find(kind, namespace, name);
        if (
          kind === 'EndpointSlice' &&
          was &&
          managerOf(was) !== managerOf(object as Labelled) &&
          was.metadata.uid === object.metadata.uid
        )
          if (was.metadata.resourceVersion === object.metadata.resourceVersion)
            this.#fail(`${actor.name} changes the manager of slice ${namespace}/${name}`);
        return api.replace(kind, object);
      },
      delete: (kind, namespace, name, preconditions) => {
        const object = this.#store.find(kind, namespace, name);
        // A delete of an object that changed since its read has no effect.
        if (
          object &&
          (preconditions?.resourceVersion ?? object.metadata.resourceVersion) ===
            object.metadata.resourceVersion
        )
          this.#checkDelete(actor, kind, object, begunAt);
        return api.delete(kind, namespace, name, preconditions);
      },
    };
  }

  #check(actor: Actor, does: string, kind: string, object: Labelled): void {
    const { namespace = '', name = '' } = object.metadata;
    const what = `${actor.name} ${does} ${kind} ${namespace}/${name}`;
    if (kind === 'Endpoints') {
      if (this.#profile.isBeside) this.#fail(`${what} beside the built-in controllers`);
      else if (isKnownToOptIn(actor, namespace, name)) this.#fail(`${what} of a service that opts in`);
    }
    if (kind !== 'EndpointSlice') return;
    const manager = managerOf(object);
    if (manager !== optInManagedBy && (this.#profile.isBeside || manager !== slicesManagedBy))
      this.#fail(`${what}, managed by ${manager}`);
  }

  #checkDelete(actor: Actor, kind: string, object: Labelled, begunAt: number): void {
    const { namespace = '', name = '', labels = {} } = object.metadata;
    const what = `${actor.name} deletes ${kind} ${namespace}/${name}`;
    if (kind === 'EndpointSlice' && managerOf(object) === optInManagedBy) return;
    if (kind === 'EndpointSlice' && managerOf(object) !== slicesManagedBy)
      this.#fail(`${what}, managed by ${managerOf(object)}`);
    if (!this.#profile.isBeside) return;
    const service = kind === 'Endpoints' ? name : (labels[labelServiceName] ?? '');
    if (!this.#hasOptedIn(`${namespace}/${service}`, begunAt, actor))
      this.#fail(`${what}, a leftover of a service that does not opt in`);
  }

  /**
   * Returns true if the Service opted in at some time since the run began, because a paused process may be
   * late.
   */
  #hasOptedIn(service: string, begunAt: number, actor: Actor): boolean {
    const [namespace = '', name = ''] = service.split('/');
    const live = this.#store.find('Service', namespace, name);
    // A watch does not report that a cluster went back to a former state.
    if (actor.paused || (live && writerOf(live).by === 'opt-in')) return true;
    const all = this.#writers.get(service) ?? [];
    return all
      .slice(
        Math.max(
          0,
          all.findLastIndex((w) => w.at <= begunAt),
        ),
      )
      .some(({ by }) => by === 'opt-in');
  }
}

/** Returns true if the process's reads of the snapshot, which may be behind the cluster, show the opt-in. */
function isKnownToOptIn(actor: Actor, namespace: string, name: string): boolean {
  const { pk, sk } = objectKey(cluster, 'Service', namespace, name);
  const reads = (actor.known.get(`${pk}|${sk}`) ?? []).map(([item]) => item?.['o']);
  return (
    reads.length > 0 &&
    reads.every(
      (o) =>
        typeof o === 'string' && writerOf(decodeProjection('Service', namespace, name, o)).by === 'opt-in',
    )
  );
}
