import { copyJson } from '#infra/local/apiserver/copy.ts';
import { dryRunCreate } from '#infra/local/apiserver/dry-run.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ApiKind, ApiObject, ClusterApi, ListQuery } from '#shared/clusters/api/port.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';

/** The ClusterApi straight on a store: the same rules as over the wire, at once and without sockets. */
export function memoryClusterApi(store: Store, options: { readonly fieldManager: string }): ClusterApi {
  const write = { manager: options.fieldManager };
  return {
    get: async (kind, namespace, name) => orMissing(() => given(store.get(kind, namespace, name)), undefined),
    async list<K extends ApiKind, T = ApiObject[K]>(
      kind: K,
      namespace: string,
      query: ListQuery<ApiObject[K], T> = {},
    ) {
      const { labels = {}, atMost, keep = (object) => object as T } = query;
      const matching = store.list(kind, namespace).filter((o) => selectorMatches(labels, o.metadata.labels));
      const items = matching.slice(0, atMost).map((o) => keep(given<ApiObject[K]>(o)));
      return { resourceVersion: String(store.resourceVersion), items };
    },
    create: async (kind, object) => given(store.create(kind, object.metadata.namespace ?? '', object, write)),
    replace: async (kind, object) =>
      given(
        store.replace(
          kind,
          { namespace: object.metadata.namespace ?? '', name: object.metadata.name },
          object,
          write,
        ),
      ),
    patch: async (kind, namespace, name, patch) =>
      given(store.patch(kind, { namespace, name }, JSON.parse(JSON.stringify(patch)), write)),
    patchStatus: async (kind, namespace, name, status) =>
      given(
        store.patch(kind, { namespace, name }, JSON.parse(JSON.stringify({ status })), {
          ...write,
          subresource: 'status',
        }),
      ),
    delete: async (kind, namespace, name, preconditions) =>
      orMissing(() => {
        store.delete(kind, namespace, name, { preconditions });
        return true;
      }, false),
    identity: async () => store.get('Namespace', '', 'kube-system').metadata.uid ?? '',
    allows: async () => true,
    dryRunCreate: async (kind, object) => dryRunCreate(store, kind, object.metadata.namespace ?? '', object),
  };
}

/** Returns a copy, so the caller may change it like a parsed object. */
const given = <T>(object: object): T => copyJson(object) as T;

function orMissing<T, D>(call: () => T, missing: D): T | D {
  try {
    return call();
  } catch (e) {
    if (e instanceof ClusterApiError && e.status === 404) return missing;
    throw e;
  }
}
